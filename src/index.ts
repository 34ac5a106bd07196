/**
 * belay as a library: the same engine that the command line drives. `startRun` yields events to sinks and accepts interruptions and
 * messages between turns; `createEventChannel` makes them readable with `for await`.
 */
export { RunBlockedError, type SourcePosition, UsageError } from './errors.ts';
export {
  createFileSink,
  createStreamSink,
  Event,
  type EventSink,
  exitCodeOf,
  type Interruption,
  Item,
  Outcome,
  Result,
  Usage,
} from './events/index.ts';
export { applyOptions, type LoadedPolicy, loadDecide, loadPolicy, type Policy, policySchema } from './policy/index.ts';
export {
  createEventChannel,
  type EventChannel,
  type OutputSchema,
  type RunHandle,
  type RunRequest,
  type RunSinks,
  startRun,
} from './run/index.ts';
export { auditEvents } from './thread/index.ts';
