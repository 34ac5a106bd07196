import type { Emit, Phase } from '../events/index.ts';
import type { EnvironmentRules, NetworkAccess } from '../policy/index.ts';
import type { Mount, NetworkDecision, Sandbox } from '../sandbox/index.ts';

/** A tree laid out for checks: the workspace itself, or a room of its own. */
export interface Place {
  /** The repository's root and the writable folder in it, absolute, as a command sees them. */
  root: string;
  dir: string;
  mounts: readonly Mount[];
  phase: Phase;
}

/** Programs that the policy wants up while checks run. */
export interface RunningServices {
  /** Resolves when they are gone. */
  stop(): Promise<void>;
}

export type ServicesStart =
  | { kind: 'up'; services: RunningServices }
  | { kind: 'failed'; reason: string }
  | { kind: 'cancelled' };

/** What running a check takes, given by the run. */
export interface CheckPorts {
  sandbox: Sandbox;
  emit: Emit;
  /** `item_0`, `item_1`, …: unique in the run. */
  nextItemId(): string;
  /** Milliseconds until the wall time of the run is over; 0 or less when it is. */
  timeLeftMs(): number;
  /** The environment of a command: the sandbox's rules with the check's own on top. */
  environment(rules: EnvironmentRules): Readonly<Record<string, string>>;
  /** The network of checks that name none of their own. */
  network: NetworkAccess;
  /** Tells what a check reached or did not; `told` resolves when all of it is out. */
  watchNetwork(phase: Phase): { onNetwork(decision: NetworkDecision): void; told(): Promise<unknown> };
  /** Bytes of one check's output that are kept as evidence, half head and half tail (`limits.output_bytes`). */
  outputBytes: number;
  /** Starts the services of checks in the place where they run; `secret`: their output goes to nobody. */
  startServices(place: Place, how: { secret: boolean }): Promise<ServicesStart>;
  /** A HOME for one command: what setup left there, its writes thrown away on close. */
  openHome(): Promise<{ dir: string; close(): Promise<void> }>;
  /** A filter that takes known secrets out of a stream of bytes. */
  redactStream(): { write(chunk: Buffer): Buffer; end(): Buffer };
}
