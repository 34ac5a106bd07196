/** batch/: jobs → bounded-parallel runs, each in a process and a tree of its own; shard, merge, matrix. */
export { auditBatch } from './audit-batch.ts';
export { type BatchSink, type BatchStream, createBatchStream } from './batch-stream.ts';
export { expandTemplate } from './expand-template.ts';
export { FromJob, type JobOrder, ToJob } from './job-order.ts';
export { type JobLine, loadJobs } from './load-jobs.ts';
export { loadRecords } from './load-records.ts';
export { mergeShards } from './merge.ts';
export { type JobPorts, planJobs } from './plan-jobs.ts';
export { planMatrix } from './plan-matrix.ts';
export { type PlannedJob, sha256 } from './planned-job.ts';
export { endByError, refuseBatch } from './refuse-batch.ts';
export { rollUp } from './roll-up.ts';
export { createRunSources } from './run-sources.ts';
export { serveJob } from './serve-job.ts';
export { readShard } from './shard.ts';
export { type BatchHandle, type BatchOptions, type BatchSinks, startBatch } from './start-batch.ts';
export { createJobStarter } from './start-job.ts';
