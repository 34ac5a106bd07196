import { relative } from 'node:path';
import type { CheckResult, Result } from '../../events/index.ts';
import { findLocations } from './find-locations.ts';
import { type CommandProperties, renderWorkflowCommand } from './workflow-command.ts';

/** GitHub shows ten annotations of a kind a step. */
const MOST_OF_A_KIND = 10;
const LOCATIONS_OF_A_CHECK = 5;
const MESSAGE_CHARACTERS = 1000;

interface Annotation {
  kind: 'error' | 'warning' | 'notice';
  properties: CommandProperties;
  message: string;
}

export interface AnnotationRoots {
  /** The repository whose files the checks name. */
  repository: string;
  /** What GitHub takes paths relative to. */
  checkout: string;
}

/** The verdict, then the checks that failed, at the files and lines that their output names. */
export function renderAnnotations(result: Result, roots: AnnotationRoots): string {
  const { outcome, reason } = result;
  const verdict: Annotation = {
    kind: result.exit_code === 0 ? 'notice' : 'error',
    properties: { title: `belay: ${outcome}` },
    message: reason,
  };
  const left = { error: MOST_OF_A_KIND, warning: MOST_OF_A_KIND, notice: MOST_OF_A_KIND };
  return [verdict, ...result.checks.flatMap((check) => annotationsOf(check, roots))]
    .filter(({ kind }) => left[kind]-- > 0)
    .map(({ kind, properties, message }) => renderWorkflowCommand(kind, properties, cut(message)))
    .join('');
}

function annotationsOf(check: CheckResult, { repository, checkout }: AnnotationRoots): Annotation[] {
  if (check.final !== 'failed' && check.final !== 'timed_out') return [];
  const kind = check.required ? 'error' : 'warning';
  const title = cut(`check ${check.name}`, 100);
  const locations = findLocations(check.output_tail, repository, LOCATIONS_OF_A_CHECK);
  if (locations.length === 0) {
    const why = check.reason ?? (check.final === 'timed_out' ? 'ran out of time' : `exit code ${check.exit_code}`);
    return [{ kind, properties: { title }, message: `${check.command}: ${why}` }];
  }
  const prefix = relative(checkout, repository);
  return locations.map(({ file, line, col, says }) => ({
    kind,
    properties: { title, file: prefix === '' ? file : `${prefix}/${file}`, line, ...(col === null ? {} : { col }) },
    message: says,
  }));
}

function cut(text: string, most = MESSAGE_CHARACTERS): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most).join('')}…`;
}
