/** thread/: append-only log, hash chain, blobs, audit. */
export type * from './thread.ts';
