/** tools/: what the model may do. */
export type * from './tool.ts';
