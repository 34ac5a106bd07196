/** model/: port `Model`; provider adapter; replay and record; retry; prices. */
export { CassetteAnswer } from './cassette.ts';
export { cassetteFromEvents } from './cassette-from-events.ts';
export { contextWindowOf } from './context-windows.ts';
export { type CreateModelOptions, createModel } from './create-model.ts';
export { type EditFamily, editFamilyOf } from './edit-family.ts';
export type {
  Answer,
  AnswerOptions,
  AnswerPart,
  FinishReason,
  Message,
  Model,
  ModelFailure,
  ModelOutcome,
  ModelRequest,
  ProviderState,
  ReasoningPart,
  RetryNotice,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  ToolSpec,
} from './model.ts';
export { type KeyOptions, loadModelKeys, type ModelKeys, type Secret } from './model-keys.ts';
export { type CostOf, loadPrices } from './prices.ts';
export { proxyFor } from './proxy.ts';
export { createRecordingModel, openCassette, type RecordingModelOptions } from './recording-model.ts';
export { createReplayModel, type Drift, type ReplayModelOptions } from './replay-model.ts';
export { createRequestDigest } from './request-digest.ts';
export { createRetryingModel, type RetryingModelOptions } from './retrying-model.ts';
