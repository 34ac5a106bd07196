/** events/: the wire contract. Event, item, result and exit-code schemas; the stream that numbers, chains and redacts; sinks. */
export { BatchEvent, type BatchEventBody, BatchStop, Combination } from './batch-event.ts';
export { BatchMeasures } from './batch-measures.ts';
export { type Clock, systemClock } from './clock.ts';
export { type Colors, NO_COLORS } from './colors.ts';
export { cutToFit, renderJson, toJson } from './cut-to-fit.ts';
export { type Emit, Event, type EventBody, type EventSink, type EventType } from './event.ts';
export {
  createEventStream,
  type EventStream,
  type EventStreamOptions,
  FIRST_PREV,
  MAX_LINE_BYTES,
} from './event-stream.ts';
export { exitCodeOf, INTERRUPTION_EXITS, type Interruption } from './exit-code.ts';
export { type Explained, explainError } from './explain-error.ts';
export { createFileSink } from './file-sink.ts';
export { FileChange, Item, ItemStatus, type ItemType, Omission, Phase } from './item.ts';
export { Job, JobId } from './job.ts';
export { JobRecord, RunSummary, Shard } from './job-record.ts';
export { type LineFile, openLineFile } from './line-file.ts';
export { nameSome } from './name-some.ts';
export { openBatchTrace, openTraceSink } from './open-trace-sink.ts';
export { isJudged, Outcome } from './outcome.ts';
export { jsonOf, parseJson } from './parse-json.ts';
export { toPlainJson } from './plain-json.ts';
export { createProgressLines } from './progress-lines.ts';
export { type EventLine, parseEventLine, readEvents } from './read-events.ts';
export { type JsonLine, type LineFault, readJsonLines } from './read-json-lines.ts';
export { createRedactor, type Redactor, type RedactStream, type Secret } from './redactor.ts';
export { renderEvent } from './render-event.ts';
export {
  nameOfLimit,
  renderAmount,
  renderCost,
  renderDuration,
  renderSeconds,
  renderTokens,
} from './render-quantity.ts';
export {
  ChangedFile,
  Changes,
  CheckResult,
  CheckStatus,
  Classification,
  Denial,
  DependencyChange,
  LimitName,
  Result,
} from './result.ts';
export { eventsSchema, jobSchema, resultSchema } from './schemas.ts';
export { createStatusLine, type StatusLine } from './status-line.ts';
export { createStreamSink, createStreamWriter, createTextWriter, type StreamWriter } from './stream-sink.ts';
export { createTextSink } from './text-sink.ts';
export { addUsage, NO_USAGE, Usage } from './usage.ts';
export { disarmCommands, oneLine, quoteLines } from './visible-text.ts';
export { createWarningLines } from './warning-lines.ts';
