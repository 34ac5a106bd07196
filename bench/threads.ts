/**
 * Figures of threads: snapshots of a big workspace, opening a long thread. `npx tsx bench/threads.ts [files] [events]`.
 * CPU is what the process and its children used: on a busy machine the wall time says little.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEventStream, createRedactor, NO_USAGE, systemClock } from '../src/events/index.ts';
import { createThread, createThreadSink, openThread, readTimeline } from '../src/thread/index.ts';
import { openWorkspace } from '../src/workspace/index.ts';

const files = Number(process.argv[2] ?? 100_000);
const events = Number(process.argv[3] ?? 10_000);
const root = mkdtempSync(join(tmpdir(), 'belay-bench-'));
const TICK_MS = 10;

/** User and system time of this process and of its children that have ended. */
function cpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}

async function measure(name: string, times: number, act: (i: number) => Promise<unknown> | unknown): Promise<void> {
  const walls: number[] = [];
  const cpu = cpuMs();
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    await act(i);
    walls.push(performance.now() - start);
  }
  const median = walls.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
  const line = [name.padEnd(52), `${median.toFixed(0)} ms wall`, `${((cpuMs() - cpu) / times).toFixed(0)} ms CPU`];
  process.stdout.write(`${line.join('  ')}\n`);
}

async function benchSnapshots(): Promise<void> {
  const dir = join(root, 'workspace');
  const pathOf = (i: number) => `d${Math.floor(i / 100) % 50}/s${Math.floor(i / 100)}/f${i % 100}.txt`;
  for (let i = 0; i < files; i++) {
    if (i % 100 === 0) mkdirSync(join(dir, pathOf(i), '..'), { recursive: true });
    writeFileSync(join(dir, pathOf(i)), `file ${i}\n`);
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@localhost', ...args], { cwd: dir });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'base');
  const open = () => openWorkspace({ dir, storeDir: join(root, 'store') });
  await measure(`first snapshot, ${files} files`, 1, async () => (await open()).close());
  const workspace = await open();
  const edit = (i: number) => writeFileSync(join(dir, pathOf(i)), `changed ${Math.random()}\n`);
  await measure('a turn with a command: one file changed', 10, (i) => {
    edit(i * 111);
    return workspace.snapshot();
  });
  await measure('a turn with an edit: one file changed', 10, (i) => {
    edit(i * 113);
    return workspace.snapshot([pathOf(i * 113)]);
  });
  await measure('a turn with a command: nothing changed', 10, () => workspace.snapshot());
  await workspace.close();
}

async function benchThread(): Promise<void> {
  const stateDir = join(root, 'state');
  const redactor = createRedactor([]);
  mkdirSync(join(root, 'empty'));
  const options = { stateDir, workspace: join(root, 'empty'), goal: 'goal', ephemeral: false, redactor };
  const thread = await createThread({ ...options, clock: systemClock });
  const stream = createEventStream({
    ...{ runId: 'r_bench', redactor, clock: systemClock, sinks: [createThreadSink(thread)] },
    onSinkFailed() {},
  });
  const text = 'a line of output of the usual length, of which there are some\n'.repeat(12);
  const usage = { usage: NO_USAGE, total_usage: NO_USAGE, duration_ms: 1, cost_usd: null, snapshot: null, changes: [] };
  for (let turn = 1; turn * 4 <= events; turn++) {
    const item = { id: `item_${turn}`, type: 'command_execution', command: 'npm test', exit_code: 0 } as const;
    const place = { turn, phase: 'agent' } as const;
    await stream.emit({ type: 'turn.started', turn, attempt: 1 });
    await stream.emit({
      type: 'item.updated',
      ...place,
      item: { ...item, status: 'in_progress', aggregated_output: '' },
    });
    await stream.emit({
      type: 'item.completed',
      ...place,
      item: { ...item, status: 'completed', aggregated_output: text },
    });
    await stream.emit({ type: 'turn.completed', turn, attempt: 1, ...usage });
    const message = { role: 'assistant', parts: [{ type: 'text', text }] } as const;
    await thread.appendNote({ kind: 'message', turn, source: 'model', trusted: false, message });
  }
  await stream.close();
  await thread.close();
  await measure(`reading a thread of ${events} events, in the process`, 5, async () =>
    readTimeline(await openThread(stateDir, thread.id)),
  );
  const cli = join(import.meta.dirname, '../dist/cli.js');
  const env = { ...process.env, BELAY_HOME: stateDir };
  await measure('belay thread show --json of it', 5, () =>
    spawnSync(process.execPath, [cli, 'thread', 'show', thread.id, '--json'], { env }),
  );
  await measure('belay --version', 5, () => spawnSync(process.execPath, [cli, '--version'], { env }));
}

try {
  await benchThread();
  await benchSnapshots();
} finally {
  rmSync(root, { recursive: true, force: true });
}
