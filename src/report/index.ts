/** report/: what people read of a run. Pure folds over the log: data → text. */
export { foldReport } from './fold-report.ts';
export { renderMarkdown } from './render-markdown.ts';
export type { ReportView } from './report-view.ts';
