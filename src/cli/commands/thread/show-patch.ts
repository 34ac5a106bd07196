import { quoteLines } from '../../../events/index.ts';

const MOST_LINES = 100_000;

/** A patch for a terminal: what would move the cursor or recolour becomes visible. Elsewhere a patch goes out to the byte. */
export function showPatch(patch: Buffer): string {
  return patch.length === 0 ? '' : `${quoteLines(patch.toString('utf8'), { prefix: '', maxLines: MOST_LINES })}\n`;
}
