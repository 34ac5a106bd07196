import * as z from 'zod';
import type { FileChange } from '../events/index.ts';
import { commitFiles } from './commit-files.ts';
import { editMade, editRefused } from './edit-outcome.ts';
import { resolvePath, shownPath } from './safe-path.ts';
import type { Tool } from './tool.ts';

const Input = z.strictObject({ path: z.string(), content: z.string() });
type Input = z.infer<typeof Input>;

const asked = (input: Input): FileChange[] => [{ path: input.path, kind: 'update' }];

export const writeFile: Tool<Input> = {
  name: 'write_file',
  description: 'Create a file, or replace all of it. For small changes use replace_text.',
  input: Input,
  readOnly: false,
  itemType: 'file_change',
  action: (input) => ({ kind: 'write', paths: [input.path] }),
  describe: (input) => ({ type: 'file_change', changes: asked(input), error: null }),
  async execute(input, { ports, signal }) {
    const resolution = await resolvePath(ports, input.path, 'write');
    if (resolution.kind === 'refused') return editRefused(asked(input), resolution.reason, resolution.denied);
    const { absolute, relative, stat } = resolution.path;
    if (stat !== null && !stat.isFile()) {
      return editRefused(asked(input), `${input.path} is ${stat.isDirectory() ? 'a folder' : 'not a regular file'}`);
    }
    if (signal.aborted) return { ...editRefused(asked(input), 'The run is ending.'), status: 'cancelled' };
    const name = shownPath(ports, relative);
    const commit = await commitFiles([{ absolute, name, before: stat, after: Buffer.from(input.content), mode: null }]);
    if (commit.kind === 'failed') return editRefused(asked(input), commit.reason);
    return editMade(ports, [{ path: relative, kind: stat === null ? 'add' : 'update' }], null);
  },
};
