import { Result, type RunSummary, readJsonLines, Usage } from '../events/index.ts';
import { changedLines } from './choose-alternative.ts';
import type { JobOrder } from './job-order.ts';
import type { RunningJob, StartJob } from './start-job.ts';

/** What is known of a run whose process ended without its last event. */
export interface LostFacts {
  how: string;
  runId: string;
  threadId: string;
  usage: Usage | null;
  costUsd: number | null;
}

export type RunEnd = { kind: 'ended'; result: Result } | ({ kind: 'lost' } & LostFacts);

export interface RunPorts {
  startJob: StartJob;
  passOn(line: string): Promise<void>;
  onSetupKept(): void;
  /** Told when the run begins, so that an interruption can reach it; the answer is called when it has ended. */
  track(running: RunningJob): () => void;
}

/** Beyond the run's own wall time, or after an interruption, within which it ends by itself: then its process hangs. */
const HANG_MS = 60_000;
/** Of a process that has not said a word, be it one of very many; with too few threads left to its user Node hangs before it begins. */
const START_MS = 300_000;
const INTERRUPTED_START_MS = 2_000;

/** One run in its own process: passes its lines on, whole and in order, and returns how it ended. */
export async function runOnce(order: JobOrder, ports: RunPorts): Promise<RunEnd> {
  const running = ports.startJob(order, ports.onSetupKept);
  let isSilent = true;
  const timers: NodeJS.Timeout[] = [];
  const killAfter = (ms: number) => timers.push(setTimeout(() => running.kill(), ms));
  const killSilentAfter = (ms: number) => timers.push(setTimeout(() => isSilent && running.kill(), ms));
  killAfter(order.limits.wallTimeMs + HANG_MS);
  killSilentAfter(START_MS);
  const untrack = ports.track({
    ...running,
    interrupt(why) {
      running.interrupt(why);
      killAfter(HANG_MS);
      killSilentAfter(INTERRUPTED_START_MS);
    },
  });
  const seen = createObserver();
  try {
    for await (const line of readJsonLines(running.stdout)) {
      isSilent = false;
      // A torn line is a killed process's last one.
      if (line.kind === 'fault') continue;
      seen.note(line.value);
      await ports.passOn(line.line);
    }
    const end = await running.ended;
    return seen.end([end.how, end.stderr.trim()].filter((text) => text !== '').join(': '));
  } finally {
    for (const timer of timers) clearTimeout(timer);
    untrack();
  }
}

function createObserver() {
  let result: Result | null = null;
  let runId = '';
  let threadId = '';
  let usage: Usage | null = null;
  let costUsd: number | null = 0;
  return {
    note(event: Record<string, unknown>): void {
      if (event['type'] === 'run.started') {
        runId = String(event['run_id']);
        threadId = String(event['thread_id']);
      }
      if (event['type'] === 'turn.completed') {
        usage = Usage.safeParse(event['total_usage']).data ?? usage;
        const cost = event['cost_usd'];
        costUsd = costUsd === null || typeof cost !== 'number' ? null : costUsd + cost;
      }
      if (event['type'] === 'run.completed') result = Result.safeParse(event['result']).data ?? null;
    },
    end(how: string): RunEnd {
      return result === null ? { kind: 'lost', how, runId, threadId, usage, costUsd } : { kind: 'ended', result };
    },
  };
}

export function summarise(result: Result): RunSummary {
  return {
    run_id: result.run_id,
    thread_id: result.thread_id,
    outcome: result.outcome,
    reason: result.reason,
    patch: result.changes.patch,
    patch_sha256: result.changes.patch_sha256,
    changed_files: result.changes.files.length,
    changed_lines: changedLines(result),
    usage: result.usage,
    cost_usd: result.cost_usd,
    duration_ms: result.duration_ms,
  };
}
