import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, inFolder } from './in-folder.ts';
import { median } from './row.ts';
import type { ScriptedModel } from './scripted-model.ts';

export const CLI = join(import.meta.dirname, '../dist/cli.js');
const SAMPLE_MS = 40;
const TICKS_PER_S = 100;

export interface RunFigures {
  startMs: number;
  /** Median from the end of an answer to the next request. */
  turnMs: number;
  /** The same over the first and the last tenth of the turns. */
  earlyTurnMs: number;
  lateTurnMs: number;
  exitMs: number;
  cpuS: number;
  /** Largest sum of the resident sizes of all processes of the run; shared pages count once for each. */
  peakMb: number;
  firstPromptBytes: number;
  /** Share of each request's bytes that equal the start of the one before, over all but the first. */
  sharedPrefix: number;
  logBytesPerTurn: number;
}

export interface RunOptions {
  model: ScriptedModel;
  turns: number;
  mode: 'workspace-write' | 'off';
  command?: (turn: number) => string;
}

/** One run of the built CLI in a small repository with a home of its own. */
export function measureRun(options: RunOptions): Promise<RunFigures> {
  return inFolder((root) => measureIn(root, options));
}

async function measureIn(
  root: string,
  { model, turns, mode, command = (turn) => `echo turn-${turn}` }: RunOptions,
): Promise<RunFigures> {
  const repository = join(root, 'repository');
  for (const folder of ['home', 'repository']) mkdirSync(join(root, folder));
  writeFileSync(join(repository, 'a.txt'), 'a\n');
  commitAll(repository);
  const policy = join(root, 'belay.yml');
  writeFileSync(
    policy,
    `version: 1\nmodel: {provider: openai-compatible, name: scripted, base_url: ${model.url}}\nlimits: {turns: ${turns + 5}, tool_calls: ${turns + 5}, tokens: 1000000000, wall_time: 2h}\nsandbox: {mode: ${JSON.stringify(mode)}}\n`,
  );
  const seen = model.begin(turns, command);
  const out = openSync(join(root, 'events.jsonl'), 'w');
  const env = { PATH: process.env['PATH'], HOME: join(root, 'home'), OPENAI_API_KEY: 'none' };
  const cpuBefore = childrenCpuS();
  const startedMs = performance.now();
  const child = spawn(process.execPath, [CLI, 'run', 'do the steps', '--policy', policy, '--format', 'jsonl'], {
    ...{ cwd: repository, env, stdio: ['ignore', out, 'ignore'] },
  });
  let peakMb = 0;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(child.pid ?? 0));
  }, SAMPLE_MS);
  await new Promise((resolve) => child.on('exit', resolve));
  const endedMs = performance.now();
  clearInterval(sampler);
  closeSync(out);
  const logBytes = readFileSync(join(root, 'events.jsonl')).length;
  if (seen.length !== turns + 1) throw new Error(`the run made ${seen.length} requests, not ${turns + 1}`);
  const gaps = seen.slice(1).map((request, index) => request.arrivedMs - (seen[index]?.answeredMs ?? Number.NaN));
  const tenth = Math.max(1, Math.floor(gaps.length / 10));
  return {
    startMs: (seen[0]?.arrivedMs ?? Number.NaN) - startedMs,
    turnMs: median(gaps),
    earlyTurnMs: median(gaps.slice(0, tenth)),
    lateTurnMs: median(gaps.slice(-tenth)),
    exitMs: endedMs - (seen.at(-1)?.answeredMs ?? Number.NaN),
    cpuS: childrenCpuS() - cpuBefore,
    peakMb,
    firstPromptBytes: promptBytes(seen[0]?.body),
    sharedPrefix: sharedPrefix(seen.map(({ body }) => body)),
    logBytesPerTurn: logBytes / (turns + 1),
  };
}

/** System prompt and tools, as sent. */
function promptBytes(body: Buffer | undefined): number {
  const { messages, tools } = JSON.parse(body?.toString('utf8') ?? '{}');
  return Buffer.byteLength(JSON.stringify(tools)) + Buffer.byteLength(JSON.stringify(messages[0].content));
}

/** In the order in which a provider caches: tools, then messages. */
function sharedPrefix(bodies: readonly Buffer[]): number {
  const canonical = bodies.map((body) => {
    const { messages, tools } = JSON.parse(body.toString('utf8'));
    return Buffer.from(JSON.stringify(tools) + JSON.stringify(messages).slice(0, -1));
  });
  let shared = 0;
  let all = 0;
  for (const [index, body] of canonical.entries()) {
    const before = canonical[index - 1];
    if (before === undefined) continue;
    let at = 0;
    while (at < before.length && before[at] === body[at]) at += 1;
    shared += at;
    all += before.length;
  }
  return all === 0 ? 1 : shared / all;
}

/** User and system time of ended children of this process, and of theirs. */
export function childrenCpuS(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S;
}

function residentMb(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readProc(`${name}/stat`) : '';
    const parent = /^.*\) \S (\d+) /s.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isBelow = (pid: number): boolean => pid === root || (parents.has(pid) && isBelow(parents.get(pid) ?? 0));
  let pages = 0;
  for (const pid of parents.keys()) if (isBelow(pid)) pages += Number(readProc(`${pid}/statm`).split(' ')[1] ?? 0);
  return (pages * 4096) / 1024 / 1024;
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    // It has ended.
    return '';
  }
}
