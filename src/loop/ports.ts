import type { Transcript } from '../context/index.ts';
import type { Emit, FileChange, RedactStream, Usage } from '../events/index.ts';
import type { Model, ModelRequest } from '../model/index.ts';
import type { Limits, Policy } from '../policy/index.ts';
import type { OutputWriter } from '../thread/index.ts';
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
  /** Texts put in between turns. */
  takeSteering(): readonly string[];
  /** Usage and cost so far of everything before this loop (a resumed thread). */
  usedBefore: { turns: number; toolCalls: number; usage: Usage; costUsd: number };
  requestDigest(request: ModelRequest): string;
  limits: Limits;
  /** Milliseconds since the run started. */
  elapsedMs(): number;
  /** Wall time at which the agent has to be done, since the run started (the final round's time is reserved). */
  agentDeadlineMs: number;
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
