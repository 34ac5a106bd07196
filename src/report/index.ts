/** report/: what people read of a run. Pure folds over the log: data → text. */
export { attachPatch } from './attach-patch.ts';
export { type BatchView, foldBatch, isBatchLine } from './fold-batch.ts';
export { foldReport } from './fold-report.ts';
export { renderAttestation } from './render-attestation.ts';
export {
  renderBatchHtml,
  renderBatchMarkdown,
  renderComparisonHtml,
  renderComparisonMarkdown,
} from './render-batch.ts';
export { renderHtml } from './render-html.ts';
export { renderJunit } from './render-junit.ts';
export { renderMarkdown } from './render-markdown.ts';
export { renderSarif } from './render-sarif.ts';
export type { ReportView } from './report-view.ts';
