/** run/: the spine. Prepare → loop → verify → settle; picks the adapters. */
export { type Drift, findDrift, type Step } from './drift.ts';
export { createEventChannel, type EventChannel } from './event-channel.ts';
export { refuseRun } from './execute.ts';
export { type LostRun, lostResult } from './lost-result.ts';
export { type ExportRequest, exportThread, type ImportRequest, importThread } from './move-thread.ts';
export { SCHEMA_ARTIFACT } from './open-parts.ts';
export type { PatchJob } from './patch-job.ts';
export { findPlace, type Place, type PlacedTree, parsePlace } from './place-in-thread.ts';
export { policyGlobs } from './policy-globs.ts';
export type { ApprovalDecision, OutputFiles, OutputSchema, ResumeRequest, RunRequest, RunSinks } from './request.ts';
export { type RollbackRequest, type RolledBack, rollbackThread } from './rollback-thread.ts';
export { type RunHandle, startRun } from './start-run.ts';
export { startVerify } from './start-verify.ts';
