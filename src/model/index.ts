/** model/: port `Model`; provider adapter; replay and record; retry; prices. */
export type * from './model.ts';
