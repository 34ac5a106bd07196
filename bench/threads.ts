/** Snapshots of big workspaces, and long threads, in the process itself. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEventStream, createRedactor, NO_USAGE, systemClock } from '../src/events/index.ts';
import { createThread, createThreadSink, openThread, readTimeline } from '../src/thread/index.ts';
import { openWorkspace } from '../src/workspace/index.ts';
import { commitAll, inFolder } from './in-folder.ts';
import { CLI } from './measure-run.ts';
import { median, type Row } from './row.ts';

async function measure(name: string, times: number, act: (i: number) => Promise<unknown> | unknown): Promise<Row> {
  const walls: number[] = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    await act(i);
    walls.push(performance.now() - start);
  }
  return { name, value: median(walls), unit: 'ms' };
}

/** A workspace of so many tracked files: the first snapshot, and one a turn. */
export function benchSnapshots(files: number): Promise<Row[]> {
  return inFolder((root) => snapshots(root, files));
}

async function snapshots(root: string, files: number): Promise<Row[]> {
  const dir = join(root, 'workspace');
  const pathOf = (i: number) => `d${Math.floor(i / 100) % 50}/s${Math.floor(i / 100)}/f${i % 100}.txt`;
  for (let i = 0; i < files; i++) {
    if (i % 100 === 0) mkdirSync(join(dir, pathOf(i), '..'), { recursive: true });
    writeFileSync(join(dir, pathOf(i)), `file ${i}\n`);
  }
  commitAll(dir);
  const open = () => openWorkspace({ dir, storeDir: join(root, 'store') });
  const first = await measure(`first snapshot, ${files} files`, 1, async () => (await open()).close());
  const workspace = await open();
  const edit = (i: number) => writeFileSync(join(dir, pathOf(i)), `changed ${Math.random()}\n`);
  const command = await measure(`snapshot of ${files} files after a command that changed one`, 10, (i) => {
    edit((i * 111) % files);
    return workspace.snapshot();
  });
  const tool = await measure(`snapshot of ${files} files after an edit of one`, 10, (i) => {
    edit((i * 113) % files);
    return workspace.snapshot([pathOf((i * 113) % files)]);
  });
  const status = await measure('', 5, () => execFileSync('git', ['status', '--porcelain'], { cwd: dir }));
  await workspace.close();
  const against = { name: '`git status`', value: status.value };
  return [
    { ...first, against },
    { ...command, against },
    { ...tool, against },
  ];
}

/** A thread of so many events: reading it, showing it, rendering its report. */
export function benchThread(events: number): Promise<Row[]> {
  return inFolder((root) => threads(root, events));
}

async function threads(root: string, events: number): Promise<Row[]> {
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
  const env = { ...process.env, BELAY_HOME: stateDir };
  const cli = (...args: string[]) => {
    const end = spawnSync(process.execPath, [CLI, ...args], { env, cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    if (end.status !== 0) throw new Error(`belay ${args[0]} ended with ${end.status}: ${end.stderr}`);
  };
  const read = () => openThread(stateDir, thread.id).then(readTimeline);
  return [
    await measure(`reading a thread of ${events} events`, 5, read),
    await measure('`belay thread show` of it', 5, () => cli('thread', 'show', thread.id, '--json')),
    await measure('`belay report --format html` of it', 3, () =>
      cli('report', join(thread.dir, 'events.jsonl'), '--format', 'html', '-o', join(root, 'report.html')),
    ),
  ];
}
