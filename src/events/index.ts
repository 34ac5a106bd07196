/** events/: the wire contract. Event, item, result and exit-code schemas; the stream that numbers, chains and redacts; sinks. */
export { type Emit, Event, type EventBody, type EventSink, type EventType } from './event.ts';
export { FileChange, Item, ItemStatus, type ItemType, Omission, Phase } from './item.ts';
export { exitCodeOf, type Interruption, Outcome } from './outcome.ts';
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
  Used,
} from './result.ts';
export { addUsage, NO_USAGE, Usage } from './usage.ts';
