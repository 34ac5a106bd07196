import * as z from 'zod';
import type { FileChange } from '../events/index.ts';
import { commitFiles } from './commit-files.ts';
import { editMade, editRefused } from './edit-outcome.ts';
import { isBinary } from './file-text.ts';
import { readBytes } from './read-bytes.ts';
import { replaceBytes } from './replace-bytes.ts';
import { resolvePath, shownPath } from './safe-path.ts';
import type { Tool } from './tool.ts';

const Input = z.strictObject({
  path: z.string(),
  old_text: z.string(),
  new_text: z.string(),
  all: z.boolean().optional(),
});
type Input = z.infer<typeof Input>;

const asked = (input: Input): FileChange[] => [{ path: input.path, kind: 'update' }];

export const replaceText: Tool<Input> = {
  name: 'replace_text',
  description:
    'Replace old_text in a file. It must stand there exactly once, literally (or use all): take in lines around it to make it unique.',
  input: Input,
  readOnly: false,
  itemType: 'file_change',
  action: (input) => ({ kind: 'write', paths: [input.path] }),
  describe: (input) => ({ type: 'file_change', changes: asked(input), error: null }),
  async execute(input, { ports, signal }) {
    const refuse = (reason: string, denied = false) => editRefused(asked(input), reason, denied);
    if (input.old_text === '') return refuse('old_text is empty: use write_file for a new file.');
    const resolution = await resolvePath(ports, input.path, 'write');
    if (resolution.kind === 'refused') return refuse(resolution.reason, resolution.denied);
    const file = resolution.path;
    const read = await readBytes(file);
    if (read.kind === 'failed') return refuse(read.reason);
    if (isBinary(read.bytes)) return refuse(`${input.path} is a binary file: only text can be replaced`);

    const replaced = replaceBytes(read.bytes, { from: input.old_text, to: input.new_text, all: input.all ?? false });
    if (replaced.kind === 'failed') return refuse(`${input.path}: ${replaced.reason}`);
    if (replaced.bytes.equals(read.bytes)) return editMade(ports, [], null);
    if (signal.aborted) return { ...refuse('The run is ending.'), status: 'cancelled' };
    const name = shownPath(ports, file.relative);
    const commit = await commitFiles([
      { absolute: file.absolute, name, before: read.stat, after: replaced.bytes, mode: null },
    ]);
    if (commit.kind === 'failed') return refuse(commit.reason);
    const remark = replaced.count > 1 ? `${replaced.count} places were replaced.` : null;
    return editMade(ports, [{ path: file.relative, kind: 'update' }], remark);
  },
};
