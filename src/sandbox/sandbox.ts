import type { NetworkAccess } from '../policy/index.ts';
import type { NetworkDecision } from './egress/decide-target.ts';

/** Which mechanism is in force. `off`: none, the policy says so. `external`: the policy asserts one around belay. */
export type SandboxTier = 'bubblewrap' | 'landlock' | 'seatbelt' | 'external' | 'off';

/** What a command may see of the file system beyond the system's own folders. Absolute, real paths. */
export interface Mount {
  /** On the host. */
  from: string;
  /** Inside the fence; where there is no mount namespace (off), it must equal `from`. */
  to: string;
  access: 'write' | 'read' | 'hidden';
}

export interface SandboxedCommand {
  /** A bash script, given to `bash -c`. */
  script: string;
  /** Absolute, inside one of the mounts. */
  workdir: string;
  /** The whole environment of the command apart from PATH, HOME and TMPDIR that the sandbox sets. */
  env: Readonly<Record<string, string>>;
  /** In order, outer before inner: a later mount covers an earlier one. Missing `from` paths are an error. */
  mounts: readonly Mount[];
  /** Host folder that is HOME inside; written by setup, copy-on-write for others is the caller's business. */
  home: string;
  network: NetworkAccess;
  /** Told once for each host, port and answer; bounded. Called synchronously, before the end of the command. */
  onNetwork?(decision: NetworkDecision): void;
  /** While it runs, what it listens on is reachable from the loopback of commands that start after. */
  serves?: boolean;
  /** Others like it, but for the script, may follow: after two of them what the next one needs may be set up ahead. */
  moreFollow?: boolean;
  timeoutMs: number;
  /**
   * stdout and stderr in the order they came. Called synchronously; the sandbox stops reading while the promise is pending. The bytes of `chunk`
   * are overwritten by those of the next one.
   */
  onOutput(chunk: Buffer): Promise<void> | void;
}

export interface CommandEnd {
  /**
   * `exited`: by itself (or by a signal of its own making); `timed_out`; `cancelled` by the signal;
   * `failed_to_start`: the fence could not be set up, the script did not run; `killed`: by a bound of the sandbox (see `detail`).
   */
  reason: 'exited' | 'timed_out' | 'cancelled' | 'failed_to_start' | 'killed';
  /** 128 + signal number when a signal ended it; null when it did not run or was ended by us. */
  exitCode: number | null;
  durationMs: number;
  /** One sentence, for reasons other than `exited`; there only where the exit code is that of a bound. */
  detail: string | null;
}

export interface SandboxStatus {
  tier: SandboxTier;
  /** Why this tier, in one sentence. */
  reason: string;
  network: string;
  /** Host uid that commands run as; null when unknown. */
  uid: number | null;
}

/**
 * Runs commands in a fence. `run` never rejects and resolves only when the whole process tree of the command is gone,
 * within 2 s of `signal` aborting or the time being over.
 */
export interface Sandbox {
  readonly status: SandboxStatus;
  run(command: SandboxedCommand, signal: AbortSignal): Promise<CommandEnd>;
  /** No command that `moreFollow` held for follows for now: what was set up ahead is ended. */
  rest(): Promise<void>;
  /** Ends what is left (bridges, services, scratch). */
  close(): Promise<void>;
}

/** Either a sandbox that was really probed, or the reason why the one demanded does not work, with its fix, in one sentence. */
export type SandboxProbe = { kind: 'works'; sandbox: Sandbox } | { kind: 'unavailable'; reason: string };
