import { readFile } from 'node:fs/promises';
import { type Outcome, Result } from '../../events/index.ts';
import type { Io } from '../command.ts';
import { type ActionFiles, pathIfThere } from './action-files.ts';
import { callBelay } from './call-belay.ts';
import { childEnvironment } from './child-environment.ts';
import { type AnnotationRoots, renderAnnotations } from './render-annotations.ts';
import { renderPlainSummary } from './render-summary.ts';
import { writeOutputs, writeSummary } from './runner-files.ts';
import { renderWorkflowCommand } from './workflow-command.ts';

/** Outputs travel through environments, where one value may have 128 KiB. */
const MESSAGE_BYTES = 65_536;

/** Ends that `belay resume` can go on from, here or on another machine. */
const CONTINUED: ReadonlySet<Outcome> = new Set([
  'approval_required',
  'limit_reached',
  'interrupted',
  'model_failed',
  'unverified',
  'gave_up',
]);

export interface ActionEnd {
  io: Pick<Io, 'stdout' | 'env'>;
  cli: string;
  files: ActionFiles;
  roots: AnnotationRoots;
  /** The run keeps a thread, which can be handed on. */
  keepsThread: boolean;
}

/** After the run: report, thread, annotations, summary and outputs. Resolves to the result; null when the run left none. */
export async function settleAction({ io, cli, files, roots, keepsThread }: ActionEnd): Promise<Result | null> {
  const result = await loadResult(files.result);
  if (result === null) {
    io.stdout.write(renderWorkflowCommand('error', { title: 'belay: internal_error' }, 'the run left no result'));
    return null;
  }
  const env = childEnvironment(io.env);
  const tell = (what: string, problem: string | null) => {
    if (problem !== null) io.stdout.write(renderWorkflowCommand('warning', { title: `belay: ${what}` }, problem));
  };
  const report = (format: string, file: string) =>
    callBelay(cli, ['report', files.events, '--format', format, '--output', file], env);
  const [markdownProblem, pageProblem, threadProblem] = await Promise.all([
    report('markdown', files.report),
    report('html', files.page),
    keepsThread && CONTINUED.has(result.outcome)
      ? callBelay(cli, ['thread', 'export', result.thread_id, files.thread], env)
      : null,
  ]);
  tell('no report', markdownProblem ?? pageProblem);
  tell('no thread', threadProblem);
  io.stdout.write(renderAnnotations(result, roots));
  const { GITHUB_STEP_SUMMARY: summary = '', GITHUB_OUTPUT: outputs = '' } = io.env;
  const markdown = pathIfThere(files.report);
  if (summary !== '')
    await writeSummary(summary, markdown === '' ? renderPlainSummary(result) : await readFile(markdown, 'utf8'));
  if (outputs !== '') await writeOutputs(outputs, outputsOf(result, files));
  return result;
}

async function loadResult(path: string): Promise<Result | null> {
  if (pathIfThere(path) === '') return null;
  const result = Result.safeParse(JSON.parse(await readFile(path, 'utf8')));
  return result.success ? result.data : null;
}

function outputsOf(result: Result, files: ActionFiles): Record<string, string> {
  const paths = {
    'result-path': pathIfThere(files.result),
    'patch-path': pathIfThere(files.patch),
    'events-path': pathIfThere(files.events),
    'report-path': pathIfThere(files.report),
    'thread-path': pathIfThere(files.thread),
  };
  const others = [pathIfThere(files.message), pathIfThere(files.page)];
  return {
    outcome: result.outcome,
    verified: String(result.verified),
    'exit-code': String(result.exit_code),
    message: new TextDecoder().decode(Buffer.from(result.message).subarray(0, MESSAGE_BYTES)),
    'cost-usd': result.cost_usd === null ? '' : String(result.cost_usd),
    ...paths,
    files: [...Object.values(paths), ...others].filter((path) => path !== '').join('\n'),
  };
}
