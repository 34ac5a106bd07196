/** sandbox/: port `Sandbox`; the only room that starts processes chosen by the model. */
export type * from './sandbox.ts';
