import * as z from 'zod';
import type { FileChange } from '../events/index.ts';
import { commitFiles } from './commit-files.ts';
import { editMade, editRefused } from './edit-outcome.ts';
import { type Hunk, parsePatch } from './parse-patch.ts';
import { planPatch } from './plan-patch.ts';
import type { Tool } from './tool.ts';

const Input = z.strictObject({ patch: z.string() });
type Input = z.infer<typeof Input>;

const DESCRIPTION = `Edit files. All of the patch applies or none. Paths are relative to the workspace. Format:
*** Begin Patch
*** Update File: src/a.py
@@ def f():
 kept line
-removed line
+added line
*** Add File: new.txt
+content
*** Delete File: old.txt
*** End Patch
"*** Move to: PATH" after an Update line renames. A file may have many chunks, each starting with "@@" or "@@ LINE" (a line above it), in file order. Kept and removed lines must match exactly one place: give about 3 kept lines around a change.`;

function changesAsked(hunks: readonly Hunk[]): FileChange[] {
  return hunks.flatMap((hunk): FileChange[] => {
    if (hunk.kind !== 'update') return [{ path: hunk.path, kind: hunk.kind }];
    if (hunk.moveTo === null) return [{ path: hunk.path, kind: 'update' }];
    return [
      { path: hunk.path, kind: 'delete' },
      { path: hunk.moveTo, kind: 'add' },
    ];
  });
}

function hunksOf(input: Input): readonly Hunk[] {
  const parsed = parsePatch(input.patch);
  return parsed.kind === 'parsed' ? parsed.hunks : [];
}

export const applyPatch: Tool<Input> = {
  name: 'apply_patch',
  description: DESCRIPTION,
  input: Input,
  readOnly: false,
  itemType: 'file_change',
  action: (input) => {
    const paths = changesAsked(hunksOf(input)).map((change) => change.path);
    return paths.length === 0 ? { kind: 'none' } : { kind: 'write', paths };
  },
  describe: (input) => ({ type: 'file_change', changes: changesAsked(hunksOf(input)), error: null }),
  async execute(input, { ports, signal }) {
    const parsed = parsePatch(input.patch);
    if (parsed.kind === 'invalid') return editRefused([], `The patch is malformed: ${parsed.reason}`);
    const asked = changesAsked(parsed.hunks);
    const plan = await planPatch(ports, parsed.hunks);
    if (plan.kind === 'refused') return editRefused(asked, plan.reason, plan.denied);
    if (signal.aborted) return { ...editRefused(asked, 'The run is ending.'), status: 'cancelled' };
    const commit = await commitFiles(plan.edits);
    if (commit.kind === 'failed') return editRefused(asked, commit.reason);
    return editMade(ports, plan.changes, plan.remarks.length === 0 ? null : plan.remarks.join('\n'));
  },
};
