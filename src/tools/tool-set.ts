import { UsageError } from '../errors.ts';
import { nearestName, type Policy } from '../policy/index.ts';
import { applyPatch } from './apply-patch.ts';
import { finish } from './finish.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { readOutput } from './read-output.ts';
import { replaceText } from './replace-text.ts';
import { search } from './search.ts';
import { shell } from './shell.ts';
import type { Tool } from './tool.ts';
import { updatePlan } from './update-plan.ts';
import { writeFile } from './write-file.ts';

/** The edit format that a model was trained on. */
export type EditFamily = 'apply_patch' | 'replace_text';

const BUILT_IN: readonly Tool[] = [
  shell,
  readFile,
  listFiles,
  search,
  applyPatch,
  replaceText,
  writeFile,
  updatePlan,
  readOutput,
  finish,
];

const EDITS: Record<EditFamily, readonly string[]> = {
  apply_patch: ['apply_patch'],
  replace_text: ['replace_text', 'write_file'],
};
const ALL_EDITS = Object.values(EDITS).flat();

function checkNames(names: readonly string[], key: string): void {
  const known = BUILT_IN.map((tool) => tool.name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const nearest = nearestName(name, known);
    const advice = nearest === null ? `known are ${known.join(', ')}` : `did you mean ${nearest}?`;
    throw new UsageError(`${key}: there is no tool ${JSON.stringify(name)}; ${advice}`, { code: 'policy' });
  }
}

/**
 * The tools of a run, always in the same order. `tools.edit: auto` takes the model's own family; `enable` adds to the usual
 * ones, `disable` takes away and wins; a read-only sandbox has no edit tools. `finish` cannot be disabled.
 * Throws a UsageError for names that no tool has.
 */
export function createTools(policy: Pick<Policy, 'tools' | 'sandbox'>, family: EditFamily): readonly Tool[] {
  const { edit, enable, disable } = policy.tools;
  checkNames(enable, 'tools.enable');
  checkNames(disable, 'tools.disable');
  if (disable.includes('finish')) {
    throw new UsageError('tools.disable: finish ends the agent’s work and cannot be disabled', { code: 'policy' });
  }
  const edits = EDITS[edit === 'auto' ? family : edit];
  const isReadOnly = policy.sandbox.mode === 'read-only';
  return BUILT_IN.filter(({ name }) => {
    if (disable.includes(name)) return false;
    if (!ALL_EDITS.includes(name)) return true;
    return !isReadOnly && (edits.includes(name) || enable.includes(name));
  });
}
