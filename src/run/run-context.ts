import type { Emit, Redactor } from '../events/index.ts';
import type { Model } from '../model/index.ts';
import type { Policy } from '../policy/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { Thread } from '../thread/index.ts';
import type { KeptCarry, Workspace } from '../workspace/index.ts';
import type { EarlierWork } from './earlier-work.ts';
import type { Homes } from './homes.ts';
import type { LoadedInstructions } from './instructions.ts';
import type { MountPlan } from './mounts.ts';
import type { NetworkLog } from './network-log.ts';
import type { RunRequest } from './request.ts';

/** What every step of a prepared run shares. */
export interface RunContext {
  request: RunRequest;
  runId: string;
  policy: Policy;
  emit: Emit;
  /** Tells of an output that could not be written. */
  noteProblem(message: string): Promise<void>;
  redactor: Redactor;
  thread: Thread;
  workspace: Workspace;
  /** What the agent is told of AGENTS.md files; empty in a resumed run, whose conversation holds them. */
  instructions: readonly LoadedInstructions[];
  sandbox: Sandbox;
  model: Model;
  homes: Homes;
  mounts: MountPlan;
  /** Real paths of the files that the run itself writes, as they were before an agent could write. */
  ownFiles: readonly string[];
  networkLog: NetworkLog;
  /** A folder outside the workspace that goes with the run. */
  scratch: string;
  /** The ignored files as they were before the agent. */
  carry: KeptCarry;
  /** What earlier runs of the thread made; null in its first. */
  earlier: EarlierWork | null;
  /** Aborts when the run is to end at once. */
  interrupt: AbortSignal;
  /** Aborts on interruption, and when the whole wall time is over. */
  stop: AbortSignal;
  nextItemId(): string;
  /** Of the whole thread. */
  elapsedMs(): number;
  timeLeftMs(): number;
}
