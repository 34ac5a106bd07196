import * as path from 'node:path';
import * as z from 'zod';
import { readOutcome } from './read-outcome.ts';
import { findRipgrep } from './ripgrep.ts';
import { resolvePath, shownPath } from './safe-path.ts';
import { searchByRipgrep } from './search-by-ripgrep.ts';
import { searchByWalk } from './search-by-walk.ts';
import type { SearchEnd, SearchHit, SearchQuery } from './search-query.ts';
import type { Tool, ToolOutcome, ToolPorts } from './tool.ts';

const DEFAULT_LIMIT = 100;
const MAX_LINE_CHARS = 300;

const Input = z.strictObject({
  pattern: z.string().min(1).max(4096),
  path: z.string().optional(),
  glob: z.string().min(1).max(1024).optional(),
  limit: z.int().min(1).optional().describe(`default ${DEFAULT_LIMIT}`),
});
type Input = z.infer<typeof Input>;

const summaryOf = (input: Input): string =>
  `search ${JSON.stringify(input.pattern)}${input.path === undefined ? '' : ` in ${input.path}`}`;

/** Takes hits as lines for the model while they fit, so that nothing is cut in the middle later. */
function createHitList(ports: ToolPorts, { limit, maxBytes }: { limit: number; maxBytes: number }) {
  const lines: string[] = [];
  let bytes = 0;
  let isFull = false;
  return {
    lines,
    isFull: () => isFull,
    take({ path: file, line, text }: SearchHit): boolean {
      if (ports.access(file).hidden) return true;
      const clean = text.replace(/\r$/u, '').replaceAll('\0', '\ufffd');
      const clipped = clean.length > MAX_LINE_CHARS ? `${clean.slice(0, MAX_LINE_CHARS)}…` : clean;
      const rendered = `${shownPath(ports, file)}:${line}: ${clipped}`;
      bytes += Buffer.byteLength(rendered) + 1;
      isFull = lines.length >= limit || bytes > maxBytes;
      if (!isFull) lines.push(rendered);
      return !isFull;
    },
  };
}

async function runSearch(query: SearchQuery, signal: AbortSignal): Promise<SearchEnd> {
  const program = await findRipgrep(query.root);
  const end: SearchEnd = program === null ? { kind: 'unavailable' } : await searchByRipgrep(program, query, signal);
  return end.kind === 'unavailable' ? searchByWalk(query, signal) : end;
}

export const search: Tool<Input> = {
  name: 'search',
  description:
    'Search file contents by regular expression (RE2 syntax, a line at a time). Ignored, binary and huge files are left out.',
  input: Input,
  readOnly: true,
  itemType: 'tool_call',
  action: () => ({ kind: 'none' }),
  describe: (input) => ({ type: 'tool_call', summary: summaryOf(input), error: null }),
  async execute(input, { ports, output, signal }): Promise<ToolOutcome> {
    const ended = (status: ToolOutcome['status'], note: string) => readOutcome(summaryOf(input), status, note);
    const resolution = await resolvePath(ports, input.path ?? '.', 'read');
    if (resolution.kind === 'refused') return ended(resolution.denied ? 'declined' : 'failed', resolution.reason);
    const { relative, stat } = resolution.path;
    if (stat === null) return ended('failed', `${input.path} does not exist`);
    if (!stat.isDirectory() && !stat.isFile()) return ended('failed', `${input.path} is not a regular file`);

    const limit = input.limit ?? DEFAULT_LIMIT;
    const hits = createHitList(ports, { limit, maxBytes: ports.policy.limits.outputBytes });
    const query: SearchQuery = {
      root: ports.root,
      base: relative,
      pattern: input.pattern,
      glob: input.glob ?? null,
      globFolder: path.relative(ports.root, ports.workspace).split(path.sep).join('/'),
      onHit: hits.take,
    };
    const end = await runSearch(query, signal);
    if (end.kind === 'invalid') return ended('failed', `The pattern is invalid: ${end.reason}`);
    if (end.kind === 'unavailable') return ended('failed', 'The search could not be run.');
    if (end.stopped === 'cancelled') return ended('cancelled', 'The run is ending.');
    if (hits.lines.length > 0) await output.write(`${hits.lines.join('\n')}\n`);
    if (end.stopped === 'time')
      return ended('completed', 'The search took too long and was ended: narrow path or glob.');
    if (hits.isFull())
      return ended('completed', `The first ${hits.lines.length} matches; there are more: narrow the search.`);
    return ended('completed', hits.lines.length === 0 ? 'No match.' : '');
  },
};
