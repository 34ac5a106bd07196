import type * as z from 'zod';
import type { FileChange, Item, ItemStatus } from '../events/index.ts';
import type { Policy } from '../policy/index.ts';
import type { CommandEnd } from '../sandbox/index.ts';

/** The bytes of one tool's output: kept whole (for `read_output`), bounded for the model. */
export interface OutputSink {
  write(chunk: Buffer | string): Promise<void> | void;
}

/** Effects that tools may have, given by the run. */
export interface ToolPorts {
  /** Absolute real path of the folder that may be written. */
  workspace: string;
  /** Absolute real path of the repository's root: readable whole. Equal to `workspace` outside git. */
  root: string;
  policy: Policy;
  /** Runs an agent's command in the sandbox; `workdir` is absolute and inside `root`. */
  runCommand(
    command: { script: string; workdir: string; timeoutMs: number; onOutput(chunk: Buffer): Promise<void> | void },
    signal: AbortSignal,
  ): Promise<
    CommandEnd & { /** Connections that the policy did not let through, in words. */ denied?: readonly string[] }
  >;
  /** Reads of an output that was kept; null when there is none of that id, `fault` when it is not what was kept. Offsets in bytes. */
  readOutput(
    outputId: string,
    range: { offset: number; limit: number },
  ): Promise<{ text: string; totalBytes: number } | { fault: string } | null>;
  /** Whether the path (relative to `root`, `/` separators) may be read or written by the agent. */
  access(path: string): { hidden: boolean; protectedBy: string | null };
}

export interface ToolCallContext {
  ports: ToolPorts;
  output: OutputSink;
  signal: AbortSignal;
}

/**
 * What a call came to. Text for the model was written to `output`; `note` is put after the bounded output, whole
 * (exit status, hints). `status` is never `in_progress`.
 */
export interface ToolOutcome {
  status: Exclude<ItemStatus, 'in_progress'>;
  note: string;
  /** Details that the item of this call carries when it completes. */
  detail: ToolDetail;
}

export type ToolDetail =
  | { type: 'command_execution'; command: string; exitCode: number | null; reason: string | null }
  | { type: 'file_change'; changes: readonly FileChange[]; error: string | null }
  | { type: 'todo_list'; items: readonly { text: string; completed: boolean }[] }
  | { type: 'tool_call'; summary: string; error: string | null }
  | { type: 'finish'; finish: Finish };

/** The typed act that ends the agent's work; then belay verifies. */
export interface Finish {
  status: 'done' | 'cannot' | 'needs_input';
  summary: string;
  risks: readonly string[];
  question: string | null;
  output: unknown;
}

/** What a call wants to do, for the policy to decide on before anything happens. */
export type ToolAction =
  | { kind: 'none' }
  | { kind: 'command'; command: string }
  /** Paths as the model wrote them. */
  | { kind: 'write'; paths: readonly string[] };

/** Something that the model may call. `execute` never rejects except for bugs; failure is an outcome. */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Calls that only read run in parallel. */
  readonly readOnly: boolean;
  /** Type of the item that stands for a call in the stream; `finish` has none. */
  readonly itemType: Item['type'] | null;
  action(input: Input): ToolAction;
  /** The item as it starts, from a validated input. */
  describe(input: Input): ToolDetail;
  execute(input: Input, context: ToolCallContext): Promise<ToolOutcome>;
}
