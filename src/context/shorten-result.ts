import { oneLine } from '../events/index.ts';
import type { ToolResultPart } from '../model/index.ts';
import { boundText } from './head-tail.ts';
import { type KeptText, renderReference } from './kept-text.ts';

const LAST_LINE_CHARACTERS = 80;

/** The one line that stands for an old result. Its last line stays: there the exit status is. */
export function renderElided(result: ToolResultPart, kept: KeptText | null): string {
  const lines = result.text.trimEnd().split('\n');
  const last = oneLine(lines.at(-1) ?? '', LAST_LINE_CHARACTERS);
  // What was cut before is kept whole already.
  const whole = result.outputId === undefined ? null : `read_output output_id=${result.outputId}`;
  const where = whole ?? (kept === null ? 'not kept' : renderReference(kept));
  return `[old result left out: ${Buffer.byteLength(result.text)} bytes, ${lines.length} lines, the last: ${last}; ${where}]`;
}

/** Head and tail of a result that does not fit whole. */
export function renderCut(result: ToolResultPart, maxBytes: number, kept: KeptText | null): string {
  return boundText(result.text, maxBytes, ({ omitted_bytes, omitted_from }) =>
    kept === null
      ? `\n[… ${omitted_bytes} bytes left out here]\n`
      : `\n[… ${omitted_bytes} bytes left out here; ${renderReference(kept, omitted_from)}]\n`,
  );
}
