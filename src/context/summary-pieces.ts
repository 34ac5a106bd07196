import type { Compaction, ThreadNote } from '../thread/index.ts';
import { createNoteFold } from './fold-notes.ts';
import type { RequestPiece } from './request-pieces.ts';
import { renderSummaryParts, SUMMARY_SHARE } from './summary-request.ts';
import { createTokenEstimator } from './token-estimate.ts';

/**
 * The request for the summary that a compaction put in the place of the past, made again from the notes before it: every piece, in its
 * order. But for belay's own words all of it is quoted, and none of it may tell the model what to do.
 */
export function listSummaryPieces(notes: readonly ThreadNote[], compaction: Compaction): RequestPiece[] {
  const prefix = notes.findLast((note) => note.kind === 'prefix');
  const fixed = prefix === undefined ? '' : `${prefix.system}[${prefix.tools.join(',')}]`;
  const estimator = createTokenEstimator();
  const fold = createNoteFold(Buffer.byteLength(fixed), estimator);
  for (const note of notes) fold.apply(note);
  const { system, parts } = renderSummaryParts({
    first: fold.messages[0],
    earlier: fold.standing.summary,
    messages: fold.messagesBefore(compaction.standIn?.keptMessages ?? 0),
    maxBytes: estimator.bytesOf(SUMMARY_SHARE * (compaction.windowTokens ?? 0)),
  });
  const common = { turn: null, callId: null };
  return [
    { role: 'system', source: 'system', trusted: true, ...common, text: system },
    ...parts.map(({ source, text }) => ({ role: 'user' as const, source, trusted: false, ...common, text })),
  ];
}
