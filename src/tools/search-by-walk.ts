import { lstat } from 'node:fs/promises';
import * as path from 'node:path';
import { isBinary } from './file-text.ts';
import { readBytes } from './read-bytes.ts';
import { createGlobFilter, type SearchEnd, type SearchQuery } from './search-query.ts';
import { walkFiles } from './walk-files.ts';

const MAX_TIME_MS = 20_000;

async function* filesOf(query: SearchQuery, signal: AbortSignal): AsyncGenerator<string> {
  const stat = await lstat(path.join(query.root, query.base));
  if (stat.isFile()) yield query.base;
  else yield* walkFiles(query.root, query.base, signal);
}

/** The way without ripgrep: slower, with the same answer and also with a linear engine. */
export async function searchByWalk(query: SearchQuery, signal: AbortSignal): Promise<SearchEnd> {
  const { RE2JS, RE2JSException } = await import('re2js');
  let pattern: ReturnType<typeof RE2JS.compile>;
  try {
    pattern = RE2JS.compile(query.pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { kind: 'invalid', reason: error.message };
  }
  const passes = createGlobFilter(query);
  const deadline = performance.now() + MAX_TIME_MS;
  for await (const file of filesOf(query, signal)) {
    if (signal.aborted) return { kind: 'ended', stopped: 'cancelled' };
    if (performance.now() > deadline) return { kind: 'ended', stopped: 'time' };
    if (!passes(file)) continue;
    const absolute = path.join(query.root, file);
    const read = await readBytes({ absolute, relative: file, stat: await lstat(absolute) });
    if (read.kind === 'failed' || isBinary(read.bytes)) continue;
    const lines = read.bytes.toString('utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    for (const [at, text] of lines.entries()) {
      if (!pattern.matcher(text).find()) continue;
      if (!query.onHit({ path: file, line: at + 1, text })) return { kind: 'ended', stopped: 'enough' };
    }
  }
  return { kind: 'ended', stopped: signal.aborted ? 'cancelled' : null };
}
