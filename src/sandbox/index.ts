/** sandbox/: port `Sandbox`; the only room that starts processes chosen by the model. */

export type { SandboxFact } from './describe-sandbox.ts';
export type { NetworkDecision } from './egress/decide-target.ts';
export { isExecutable } from './is-executable.ts';
export { isWithin } from './is-within.ts';
export { limitOwnCores } from './limit-dumps.ts';
export { loadDescription } from './load-description.ts';
export type { ProbeOptions } from './probe-options.ts';
export { probeSandbox } from './probe-sandbox.ts';
export type {
  CommandEnd,
  Mount,
  Sandbox,
  SandboxedCommand,
  SandboxProbe,
  SandboxStatus,
  SandboxTier,
} from './sandbox.ts';
export { settledAtMs, TICK_MS } from './settled-at.ts';
export { statOrNull } from './stat-or-null.ts';
