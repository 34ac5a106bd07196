import type { Transcript } from '../context/index.ts';
import type { Emit, FileChange, RedactStream } from '../events/index.ts';
import type { Model, ModelRequest, ToolCallPart } from '../model/index.ts';
import type { Limits, Policy } from '../policy/index.ts';
import type { CallEndNote, OutputWriter, ThreadPast } from '../thread/index.ts';
import type { Finish, Tool, ToolPorts } from '../tools/index.ts';

/** A decision on what a call wants to do, made before anything happens. */
export interface ActionDecision {
  decision: 'allow' | 'ask' | 'deny';
  rule: string;
  reason: string;
}

/** Everything the loop may touch. It never throws for failures of the work, and never prints. */
export interface LoopPorts {
  model: Model;
  tools: readonly Tool[];
  toolPorts: ToolPorts;
  policy: Policy;
  transcript: Transcript;
  emit: Emit;
  nextItemId(): string;
  now(): number;
  decide(action: { kind: 'command'; command: string } | { kind: 'write'; path: string }): ActionDecision;
  /** The workspace as it is, after a turn that could have changed it; changes are against the snapshot before. */
  snapshot(): Promise<{ tree: string; changes: readonly FileChange[] }>;
  /** An output that is kept whole; null where nothing is kept. */
  openOutput(): Promise<OutputWriter | null>;
  /** A filter that takes known secrets out of a stream of bytes. */
  redactStream(): RedactStream;
  /** Why the output of a `finish` is not acceptable, or null. */
  refuseOutput(finish: Finish): string | null;
  /** Where the workspace is now, for a conversation that was told another place; null where it was not. */
  movedTo: string | null;
  /** Texts put in between turns. */
  takeSteering(): readonly string[];
  /** What earlier runs of the thread left to go on from; null in its first run. */
  past: ThreadPast | null;
  /** Keeps the end of a call, before the stream tells of it: a resumed run never runs that call again. */
  noteCallEnd(note: CallEndNote): Promise<void>;
  /** Asks for a person's decision on a call; returns the id of the question. Nothing of the call has happened. */
  askApproval(about: AskedAction): Promise<string>;
  requestDigest(request: ModelRequest): string;
  limits: Limits;
  /** Milliseconds that the runs of the thread took so far. */
  elapsedMs(): number;
  /** The same at which the agent has to be done (the final round's time is reserved). */
  agentDeadlineMs: number;
}

/** What a person has to decide on. */
export interface AskedAction {
  part: ToolCallPart;
  turn: number;
  action: string;
  rule: string;
}

/** What stops a loop. */
export type LoopEnd =
  | { kind: 'finished'; finish: Finish; callId: string | null; empty: boolean }
  | { kind: 'limit'; limit: string; used: number; max: number }
  | { kind: 'model_failed'; code: string; message: string; retryable: boolean }
  | { kind: 'refused'; message: string }
  | { kind: 'invalid_output'; message: string }
  | { kind: 'approval'; approvalId: string; action: string; rule: string }
  | { kind: 'interrupted' };
