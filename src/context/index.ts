/** context/: what the model sees. Instructions, transcript, compaction, head-tail buffer, token estimate. */
export type { CompactionPlan, ContextView } from './decide-compaction.ts';
export {
  type FirstMessageParts,
  type InstructionFile,
  type ReferenceFile,
  renderFirstMessage,
} from './first-message.ts';
export type { Standing } from './fold-notes.ts';
export { type BoundedText, createHeadTailBuffer, type HeadTailBuffer } from './head-tail.ts';
export type { KeptText } from './kept-text.ts';
export { renderDigest, renderHistory } from './render-history.ts';
export { listRequestPieces, type RequestPiece } from './request-pieces.ts';
export { renderCut, renderElided } from './shorten-result.ts';
export type { Source } from './source.ts';
export { renderStandIn, type StandInParts } from './stand-in.ts';
export { listSummaryPieces } from './summary-pieces.ts';
export { renderSummaryRequest, SUMMARY_SHARE } from './summary-request.ts';
export { SYSTEM_PROMPT } from './system-prompt.ts';
export { createTranscript, type Transcript, type TranscriptOptions } from './transcript.ts';
