import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { codeOf } from '../errors.ts';
import { binaryKind } from './file-kind.ts';
import { type LineWindow, readLineWindow } from './line-window.ts';
import { openVerified, PathMovedError } from './open-verified.ts';
import { resolvePath, type SafePath } from './safe-path.ts';
import type { Tool, ToolCallContext, ToolOutcome } from './tool.ts';

const DEFAULT_LINES = 400;
const MAX_WINDOW_BYTES = 32 * 1024;
const MAX_LINE_BYTES = 2000;
const MAX_COUNTED_BYTES = 64 * 1024 * 1024;

const Input = z.strictObject({
  path: z.string(),
  offset: z.int().min(1).optional().describe('first line, from 1'),
  limit: z.int().min(1).optional().describe(`lines, default ${DEFAULT_LINES}`),
});
type Input = z.infer<typeof Input>;

function summaryOf(input: Input): string {
  return `read ${input.path}${input.offset === undefined ? '' : ` from line ${input.offset}`}`;
}

function noteOn({ lines, totalLines }: LineWindow, offset: number, size: number): string {
  if (size === 0) return 'The file is empty.';
  const end = offset + lines.length - 1;
  if (totalLines !== null && lines.length === 0) return `The file has only ${totalLines} lines.`;
  if (totalLines !== null && end >= totalLines) {
    return offset === 1 ? `The whole file, ${totalLines} lines.` : `Lines ${offset}-${end} of ${totalLines}, the end.`;
  }
  const total = totalLines === null ? `a file of ${size} bytes` : `${totalLines}`;
  return `Lines ${offset}-${end} of ${total}. Go on with offset ${end + 1}.`;
}

async function readText(
  handle: FileHandle,
  { input, context, size }: { input: Input; context: ToolCallContext; size: number },
): Promise<string> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
  const kind = binaryKind(buffer.subarray(0, bytesRead));
  if (kind !== null) return `${input.path} is not text: ${kind}, ${size} bytes.`;
  const offset = input.offset ?? 1;
  const request = {
    offset,
    limit: input.limit ?? DEFAULT_LINES,
    // More would be cut in the middle on its way to the model.
    maxBytes: Math.min(MAX_WINDOW_BYTES, context.ports.policy.limits.outputBytes),
    maxLineBytes: MAX_LINE_BYTES,
    maxCountedBytes: MAX_COUNTED_BYTES,
  };
  const window = await readLineWindow(handle, request, context.signal);
  if (window.lines.length > 0) await context.output.write(`${window.lines.join('\n')}\n`);
  return noteOn(window, offset, size);
}

async function openFile(file: SafePath, written: string): Promise<FileHandle | string> {
  if (file.stat === null) return `${written} does not exist`;
  if (file.stat.isDirectory()) return `${written} is a folder: list it with list_files {"pattern": "${written}/**"}`;
  if (!file.stat.isFile()) return `${written} is not a regular file`;
  try {
    return (await openVerified(file.absolute, constants.O_RDONLY)).handle;
  } catch (error) {
    const code = error instanceof PathMovedError ? 'it was moved' : codeOf(error);
    if (code === null) throw error;
    return `${written} cannot be read (${code})`;
  }
}

export const readFile: Tool<Input> = {
  name: 'read_file',
  description: 'Read lines of a text file.',
  input: Input,
  readOnly: true,
  itemType: 'tool_call',
  action: () => ({ kind: 'none' }),
  describe: (input) => ({ type: 'tool_call', summary: summaryOf(input), error: null }),
  async execute(input, context): Promise<ToolOutcome> {
    const ended = (status: ToolOutcome['status'], note: string): ToolOutcome => ({
      status,
      note,
      detail: { type: 'tool_call', summary: summaryOf(input), error: status === 'completed' ? null : note },
    });
    const resolution = await resolvePath(context.ports, input.path, 'read');
    if (resolution.kind === 'refused') return ended(resolution.denied ? 'declined' : 'failed', resolution.reason);
    const handle = await openFile(resolution.path, input.path);
    if (typeof handle === 'string') return ended('failed', handle);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return ended('failed', `${input.path} is not a regular file`);
      return ended('completed', await readText(handle, { input, context, size: stat.size }));
    } finally {
      await handle.close();
    }
  },
};
