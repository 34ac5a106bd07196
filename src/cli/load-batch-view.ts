import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { readJsonLines } from '../events/index.ts';
import { type BatchView, foldBatch, isBatchLine } from '../report/index.ts';

/** A record holds a whole result. */
const MOST_LINE_BYTES = 8 * 1024 * 1024;

/** A file of a batch (its events, or its results), by its first line; null for anything else. */
export async function loadBatchView(path: string, source: string): Promise<BatchView | null> {
  if (!(await beginsBatch(path))) return null;
  return foldBatch(readJsonLines(path, { maxLineBytes: MOST_LINE_BYTES }), source);
}

/** Only of a regular file: what comes through a pipe can be read once. */
async function beginsBatch(path: string): Promise<boolean> {
  if (!(await stat(path)).isFile()) return false;
  const stream = createReadStream(path);
  try {
    for await (const line of readJsonLines(stream, { maxLineBytes: MOST_LINE_BYTES }))
      return line.kind === 'line' && isBatchLine(line.value);
    return false;
  } finally {
    stream.destroy();
  }
}
