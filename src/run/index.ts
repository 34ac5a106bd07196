/** run/: the spine. Prepare → loop → verify → settle; picks the adapters. */
export type { OutputFiles, OutputSchema, RunRequest, RunSinks } from './request.ts';
export { refuseRun, type RunHandle, startRun } from './start-run.ts';
