import type { ReferenceFile } from '../context/index.ts';
import type { EventSink } from '../events/index.ts';
import type { CassetteAnswer } from '../model/index.ts';
import type { LoadedPolicy } from '../policy/index.ts';
import type { Location } from '../workspace/index.ts';

/** One goal and everything that the caller decides about its run. All paths are absolute. */
export interface RunRequest {
  /** `verify`: no model is asked; `replay` is empty then. */
  kind: 'agent' | 'verify';
  version: string;
  goal: string;
  policy: LoadedPolicy;
  /** The file that the caller named for the policy: a resumed run reads it again. Absent: none was named. */
  policyFile?: string | null;
  /** The same of `--policy-floor`. */
  floorFile?: string | null;
  /** The folder under work; only it is writable. */
  workspace: string;
  /** What `locateRepository` found for it just now, where it was asked for the policy; absent or null: asked by the run. */
  location?: Location | null;
  references: readonly ReferenceFile[];
  /** JSON Schema that `finish.output` must satisfy, already parsed and compiled once. */
  outputSchema: OutputSchema | null;
  /** Cassette (or its answers) to answer from instead of a model. */
  replay: string | readonly CassetteAnswer[] | null;
  record: string | null;
  /** Commit that instructions and pristine tests come from; null: HEAD. */
  trustRef: string | null;
  ephemeral: boolean;
  files: OutputFiles;
  /** Absolute paths of files that the caller writes during the run (its event stream), beside `files` and `record`. */
  streamFiles: readonly string[];
  /** The harness's environment: keys are taken from it, children get an allowlist of it. */
  environment: NodeJS.ProcessEnv;
  /** Folder for threads and locks; null: from the environment. */
  stateDir: string | null;
  /** The thread to go on with; absent: a new one. */
  resume?: ResumeRequest;
  /** `discard`: the change is always taken back (a diagnosis, not a delivery). */
  delivery: 'keep-verified' | 'discard';
  /** Of a batch: stands on every event. */
  jobId?: string;
  /** The wall time is what the batch had left: less than the policy gives. */
  cappedByBatch?: boolean;
  /** Called when setup has ended well, before anything else touches the tree. */
  onSetupDone?(left: { root: string; home: string }): Promise<void>;
  /** The workspace is as setup left it in another run of the batch; that run's HOME is copied, and setup does not run. */
  setupTaken?: { home: string; from: string };
  /** Called when a replayed request differs from the recorded one. */
  onDrift?(drift: { turn: number; expected: string; actual: string }): void;
}

/** A person's word on a call, as `belay resume --approve ID` or `--deny ID` gives it. */
export interface ApprovalDecision {
  approvalId: string;
  decision: 'approved' | 'denied';
}

export interface ResumeRequest {
  threadId: string;
  /** A person's word on the action that the thread waits with. */
  decision: ApprovalDecision | null;
}

export interface OutputSchema {
  source: string;
  text: string;
  /** What is wrong with a value, in words for the model; null when it satisfies the schema. */
  faultOf(value: unknown): string | null;
}

export interface OutputFiles {
  result: string | null;
  patch: string | null;
  message: string | null;
}

export interface RunSinks {
  /** stdout, in whatever form; its loss interrupts the run. */
  main: EventSink | null;
  others: readonly EventSink[];
}
