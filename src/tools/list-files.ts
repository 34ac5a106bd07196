import * as path from 'node:path';
import * as z from 'zod';
import { createMatcher } from '../policy/index.ts';
import { readOutcome } from './read-outcome.ts';
import { resolvePath, shownPath } from './safe-path.ts';
import type { Tool, ToolOutcome, ToolPorts } from './tool.ts';
import { findVisibleFiles } from './visible-files.ts';

const DEFAULT_LIMIT = 200;
/** Paths held in memory at most; beyond it the count is a lower bound. */
const MAX_FOUND = 100_000;
const MAX_PATTERN_LENGTH = 1024;

const Input = z.strictObject({
  pattern: z.string().min(1).max(MAX_PATTERN_LENGTH),
  limit: z.int().min(1).optional().describe(`default ${DEFAULT_LIMIT}`),
});
type Input = z.infer<typeof Input>;

const MAGIC = /[*?[\]{}\\!]/u;

/** The folder that a pattern starts from (as written) and the glob below it. A pattern that names a folder means what is in it. */
function splitPattern(pattern: string, namesFolder: boolean): { folder: string; glob: string } {
  if (namesFolder) return { folder: pattern, glob: '*' };
  const parts = pattern.split('/');
  const firstMagic = parts.findIndex((part) => MAGIC.test(part));
  const fixed = firstMagic === -1 ? parts.length - 1 : firstMagic;
  const folder = parts.slice(0, fixed).join('/');
  return { folder: folder === '' ? (pattern.startsWith('/') ? '/' : '.') : folder, glob: parts.slice(fixed).join('/') };
}

async function isFolder(ports: ToolPorts, pattern: string): Promise<boolean> {
  if (MAGIC.test(pattern)) return false;
  const resolution = await resolvePath(ports, pattern, 'read');
  return resolution.kind === 'resolved' && resolution.path.stat?.isDirectory() === true;
}

/** What of a file's path (relative to the pattern's folder) a glob names: the file, a folder on the way to it, nothing. */
function createEntryFinder(glob: string): (file: string) => string | null {
  const matches = createMatcher([`/${glob.startsWith('!') ? `\\${glob}` : glob}`]);
  if (glob.includes('**') || /\{[^}]*\//u.test(glob)) return (file) => (matches(file) === null ? null : file);
  const depth = glob.split('/').filter((part) => part !== '').length;
  return (file) => {
    const parts = file.split('/');
    if (parts.length < depth) return null;
    const entry = parts.slice(0, depth).join('/');
    if (matches(entry) === null) return null;
    return parts.length === depth ? entry : `${entry}/`;
  };
}

interface Found {
  /** Entry, relative to the workspace → files below it, for folders. */
  entries: ReadonlyMap<string, number>;
  isComplete: boolean;
}

async function findEntries(
  ports: ToolPorts,
  { base, glob }: { base: string; glob: string },
  signal: AbortSignal,
): Promise<Found> {
  const entryOf = createEntryFinder(glob);
  const entries = new Map<string, number>();
  const shownBase = shownPath(ports, base);
  let isComplete = true;
  const onFile = (file: string): boolean => {
    const entry = entryOf(path.posix.relative(base, file));
    if (entry === null) return true;
    const shown = shownBase === '.' ? entry : `${shownBase}/${entry}`;
    entries.set(shown, (entries.get(shown) ?? 0) + 1);
    isComplete = entries.size < MAX_FOUND;
    return isComplete;
  };
  await findVisibleFiles({ ports, base, onFile }, signal);
  return { entries, isComplete };
}

/** As many lines as fit, so that nothing is cut in the middle later. */
function renderEntries({ entries, isComplete }: Found, { limit, maxBytes }: { limit: number; maxBytes: number }) {
  const lines: string[] = [];
  let bytes = 0;
  for (const [entry, files] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const line = entry.endsWith('/') ? `${entry} (${files} ${files === 1 ? 'file' : 'files'})` : entry;
    bytes += Buffer.byteLength(line) + 1;
    if (lines.length >= limit || bytes > maxBytes) break;
    lines.push(line);
  }
  const left = entries.size - lines.length;
  const total = isComplete ? `${entries.size}` : `more than ${entries.size}`;
  return {
    lines,
    note: left > 0 || !isComplete ? `${lines.length} of ${total}: narrow the pattern for the rest.` : '',
  };
}

const summaryOf = (input: Input): string => `list ${input.pattern}`;

export const listFiles: Tool<Input> = {
  name: 'list_files',
  description:
    'List files by glob, relative to the workspace: `*` one folder, `**/*.ts` at any depth. Ignored files are left out.',
  input: Input,
  readOnly: true,
  itemType: 'tool_call',
  action: () => ({ kind: 'none' }),
  describe: (input) => ({ type: 'tool_call', summary: summaryOf(input), error: null }),
  async execute(input, { ports, output, signal }): Promise<ToolOutcome> {
    const ended = (status: ToolOutcome['status'], note: string) => readOutcome(summaryOf(input), status, note);
    const { folder, glob } = splitPattern(input.pattern, await isFolder(ports, input.pattern));
    const resolution = await resolvePath(ports, folder, 'read');
    if (resolution.kind === 'refused') return ended(resolution.denied ? 'declined' : 'failed', resolution.reason);
    const { relative, stat } = resolution.path;
    if (stat?.isDirectory() !== true) return ended('completed', `There is no folder ${folder}.`);

    const found = await findEntries(ports, { base: relative, glob }, signal);
    if (signal.aborted) return ended('cancelled', 'The run is ending.');
    if (found.entries.size === 0) {
      const hint = glob.includes('/') || glob.includes('**') ? '' : ` here; "**/${glob}" looks at any depth`;
      return ended('completed', `No file matches ${input.pattern}${hint}.`);
    }
    const bounds = { limit: input.limit ?? DEFAULT_LIMIT, maxBytes: ports.policy.limits.outputBytes };
    const { lines, note } = renderEntries(found, bounds);
    await output.write(`${lines.join('\n')}\n`);
    return ended('completed', note);
  },
};
