/** loop/: turn after turn until a stop condition; never throws for failures of the work, never prints. */
export type { Budget } from './budget.ts';
export type { ActionDecision, AskedAction, LoopEnd, LoopPorts } from './ports.ts';
export { createLoop, type Loop, type Signals } from './run-loop.ts';
