/** thread/: append-only log, hash chain, blobs, locks, audit. */
export { type AuditFault, type AuditReport, auditEvents, createRunAudit, type RunAudit } from './audit.ts';
export { type MessageNote, notesOfRequest } from './conversation.ts';
export { createThread, type NewThreadOptions } from './create-thread.ts';
export { type ForkOptions, forkThread } from './fork-thread.ts';
export { listThreads, type ThreadSummary } from './list-threads.ts';
export { acquireLock, type LockHolder, type LockOutcome } from './lock.ts';
export { loadPast, openThread, resumeThread, type StoredThread } from './open-thread.ts';
export { type PackedSnapshots, packThread } from './pack-thread.ts';
export { type Pruned, type PruneRules, pruneThreads } from './prune-threads.ts';
export type { NoteLine } from './read-notes.ts';
export { stateFolder, unusableState } from './state-folder.ts';
export type { OutputRange, OutputReading } from './stored-output.ts';
export type { OutputRecord, OutputWriter, Thread } from './thread.ts';
export type { ThreadMeta } from './thread-meta.ts';
export type { Compaction, MessagePiece, ThreadNote } from './thread-note.ts';
export type {
  ApprovalNote,
  CallEndNote,
  DecisionNote,
  PastRun,
  PendingAnswer,
  StashedWork,
  ThreadPast,
} from './thread-past.ts';
export { createThreadSink } from './thread-sink.ts';
export {
  namedTreesOf,
  type RollbackNote,
  readTimeline,
  type Timeline,
  type TimelineRun,
  type TimelineTurn,
  treeAfter,
  treesOf,
} from './timeline.ts';
export { type UnpackOptions, unpackThread } from './unpack-thread.ts';
export { lockWorkspace } from './workspace-lock.ts';
