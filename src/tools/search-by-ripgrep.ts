import { ignoreArguments, MAX_SEARCHED_BYTES, runRipgrep } from './ripgrep.ts';
import { createGlobFilter, type SearchEnd, type SearchHit, type SearchQuery } from './search-query.ts';
import { isGitRoot } from './visible-files.ts';

const MAX_LINE_BYTES = 1000;

/** `path NUL line ":" text`; null for other remarks of ripgrep. */
function parseRecord(record: string): SearchHit | null {
  const nul = record.indexOf('\0');
  const colon = record.indexOf(':', nul + 1);
  if (nul === -1 || colon === -1) return null;
  const line = Number(record.slice(nul + 1, colon));
  return Number.isInteger(line) ? { path: record.slice(2, nul), line, text: record.slice(colon + 1) } : null;
}

/**
 * What ripgrep can be told of a glob, to be quicker. Its `--glob` would take in files that are ignored, but for a glob that
 * excludes; a file type does not, and looks at names alone. The filter on the hits decides.
 */
function globArguments(glob: string | null): string[] {
  if (glob === null || glob.includes('/')) return [];
  return glob.startsWith('!') ? [`--glob=${glob}`] : ['--type-add', `wanted:${glob}`, '--type', 'wanted'];
}

/** In the order of paths, so that the same tree gives the same answer. The default engine is linear in the input. */
export async function searchByRipgrep(program: string, query: SearchQuery, signal: AbortSignal): Promise<SearchEnd> {
  const args = [
    ...['--line-number', '--with-filename', '--no-heading', '--null', '--sort', 'path', '--engine', 'default'],
    ...['--max-columns', String(MAX_LINE_BYTES), '--max-columns-preview', '--max-filesize', String(MAX_SEARCHED_BYTES)],
    ...ignoreArguments(await isGitRoot(query.root)),
    ...globArguments(query.glob),
    ...[`--regexp=${query.pattern}`, '--', `./${query.base}`],
  ];
  const passes = createGlobFilter(query);
  const onRecord = (record: string): boolean => {
    const hit = parseRecord(record);
    return hit === null || !passes(hit.path) || query.onHit(hit);
  };
  const end = await runRipgrep({ program, args, cwd: query.root, separator: '\n', onRecord }, signal);
  if (end.kind === 'unavailable') return end;
  if (end.stopped === null && end.exitCode === 2 && end.stderr !== '') {
    const reason = end.stderr.split('\n').filter((line) => line.trim() !== '');
    return { kind: 'invalid', reason: reason.join('\n').replace(/^rg: /u, '') };
  }
  return { kind: 'ended', stopped: end.stopped };
}
