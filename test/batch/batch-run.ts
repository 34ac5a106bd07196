import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BatchEvent, Event } from '../../src/events/index.ts';
import { type Bench, CLI } from '../scenario.ts';

export type Completed = Extract<BatchEvent, { type: 'batch.completed' }>;
export type JobCompleted = Extract<BatchEvent, { type: 'job.completed' }>;

export interface BatchEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  lines: string[];
  stderr: string;
  /** Events of runs, of all jobs. */
  events: Event[];
  jobs: JobCompleted[];
  completed: Completed | null;
}

export interface BatchHow {
  env?: NodeJS.ProcessEnv;
  /** Called for every line, with the batch's process id. The answer `true`: the reader leaves. */
  onLine?(event: Event | BatchEvent, pid: number): unknown;
  /** Called for every line of `--format text`. */
  onText?(line: string, pid: number): void;
}

/** Runs the built CLI and reads its stream strictly: a line that is no event of a run or of the batch fails the test. */
export function runBatch(args: readonly string[], bench: Bench, how: BatchHow = {}): Promise<BatchEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, 'batch', ...args], {
      cwd: bench.ws,
      env: { ...bench.env, ...how.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    let rest = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        lines.push(line);
        try {
          if (how.onText) how.onText(line, child.pid ?? 0);
          else if (how.onLine?.(parseLine(line), child.pid ?? 0) === true) child.stdout.destroy();
        } catch (error) {
          reject(error);
        }
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const isJson = lines[0]?.startsWith('{"type"') ?? false;
      const all = isJson ? lines.map(parseLine) : [];
      const last = all.at(-1);
      resolve({
        code,
        signal,
        lines,
        stderr,
        events: all.filter((event): event is Event => Event.safeParse(event).success),
        jobs: all.filter((event): event is JobCompleted => event.type === 'job.completed'),
        completed: last?.type === 'batch.completed' ? last : null,
      });
    });
  });
}

function parseLine(line: string): Event | BatchEvent {
  const value: unknown = JSON.parse(line);
  return BatchEvent.safeParse(value).data ?? Event.parse(value);
}

export interface CassetteJob {
  /** The agent's one command. */
  command: string;
  delayMs?: number;
  /** Of each of the two answers. */
  tokens?: number;
  more?: Record<string, unknown>;
}

/** A job file, and a folder with the cassette of each job. */
export function writeJobs(bench: Bench, jobs: Readonly<Record<string, CassetteJob>>): { file: string; replay: string } {
  const replay = join(bench.io, 'cassettes');
  mkdirSync(replay, { recursive: true });
  for (const [id, { command, delayMs, tokens }] of Object.entries(jobs)) {
    const usage = { input_tokens: tokens ?? 100, output_tokens: 0 };
    const answers = [
      { tool_calls: [{ name: 'shell', input: { command } }], usage, ...(delayMs ? { delay_ms: delayMs } : {}) },
      { tool_calls: [{ name: 'finish', input: { status: 'done', summary: `did ${id}` } }], usage },
    ];
    writeFileSync(join(replay, `${id}.jsonl`), answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
  }
  const file = join(bench.io, 'jobs.jsonl');
  const lines = Object.entries(jobs).map(([id, { more }]) => `${JSON.stringify({ id, goal: `do ${id}`, ...more })}\n`);
  writeFileSync(file, lines.join(''));
  return { file, replay };
}

export const outcomesOf = (end: Pick<BatchEnd, 'jobs'>): Record<string, string> =>
  Object.fromEntries(end.jobs.map((job) => [job.job_id, job.result.outcome]));
