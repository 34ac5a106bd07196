import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunBlockedError, UsageError } from '../../src/errors.ts';
import { createEventStream, createRedactor, type EventBody, NO_USAGE } from '../../src/events/index.ts';
import {
  createThread,
  createThreadSink,
  listThreads,
  openThread,
  pruneThreads,
  resumeThread,
  type Thread,
  type ThreadNote,
} from '../../src/thread/index.ts';
import { tempFolder } from '../events/temp-folder.ts';

const value = ['value', process.pid, 'of', 'a', 'key'].join('-');
const redactor = createRedactor([{ name: 'KEY', value }]);
const clock = { now: () => Date.UTC(2030, 0, 1) };
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

async function newThread(
  more: { stateDir?: string; ephemeral?: boolean } = {},
): Promise<{ thread: Thread; stateDir: string }> {
  const stateDir = more.stateDir ?? tempFolder();
  const thread = await createThread({
    ...{ stateDir, workspace: tempFolder(), goal: `use ${value}`, redactor, clock },
    ephemeral: more.ephemeral ?? false,
  });
  return { thread, stateDir };
}

function record(thread: Thread) {
  const sink = createThreadSink(thread);
  return createEventStream({
    ...{ runId: 'r_1', redactor, sinks: [sink], clock },
    onSinkFailed(_, error) {
      throw error;
    },
  });
}

const note = (text: string): ThreadNote => ({
  kind: 'message',
  turn: 0,
  source: 'goal',
  trusted: true,
  message: { role: 'user', text },
});
const answer: ThreadNote = {
  kind: 'message',
  turn: 1,
  source: 'model',
  trusted: false,
  message: {
    role: 'assistant',
    parts: [
      { type: 'text', text: 'hello', state: { some: { id: 'x' } } },
      { type: 'tool_call', id: 'call_1', name: 'shell', input: '{"command":"ls"}' },
    ],
  },
  answer: { attempt: 1, finish: 'tool_calls', usage: NO_USAGE, costUsd: null },
};
const started: EventBody = {
  type: 'item.started',
  turn: 1,
  phase: 'agent',
  item: {
    id: 'item_0',
    type: 'command_execution',
    status: 'in_progress',
    command: 'ls',
    aggregated_output: '',
    exit_code: null,
  },
};

async function notesOf(stateDir: string, id: string) {
  const lines = [];
  for await (const line of (await openThread(stateDir, id)).readNotes()) lines.push(line);
  return lines;
}

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('a thread on disk', () => {
  it('keeps events as they were written, notes in a chain, and nothing secret', async () => {
    const { thread, stateDir } = await newThread();
    const stream = record(thread);
    await Promise.all([thread.appendNote(note(`goal ${value}`)), thread.appendNote(answer)]);
    await stream.emit(started);
    const writer = await thread.openOutput();
    const output = Buffer.from(`before ${value} after`);
    for (let i = 0; i < output.length; i += 5) await writer.write(output.subarray(i, i + 5));
    await writer.end();
    await thread.close();

    const blanked = 'before [redacted:KEY] after';
    const [digest, sizes] = [sha256(blanked), { totalBytes: blanked.length, storedBytes: blanked.length }];
    const stored = await openThread(stateDir, thread.id);
    expect(stored.meta).toEqual({
      format: 2,
      thread_id: thread.id,
      workspace: stored.meta.workspace,
      goal: 'use [redacted:KEY]',
      created: '2030-01-01T00:00:00.000Z',
    });
    expect(await notesOf(stateDir, thread.id)).toEqual([
      { kind: 'note', note: note('goal [redacted:KEY]') },
      { kind: 'note', note: answer },
      { kind: 'note', note: { kind: 'output', id: 'o1', ...sizes, sha256: digest, blob: digest } },
    ]);
    const events = [];
    for await (const line of stored.readEvents()) events.push(line);
    expect(events).toMatchObject([{ kind: 'event', event: { type: 'item.started', seq: 0 } }]);
    expect(filesOf(stateDir).filter((file) => readFileSync(file, 'utf8').includes(value))).toEqual([]);
    expect(statSync(thread.dir).mode & 0o777).toBe(0o700);
    expect(existsSync(join(thread.dir, 'lock'))).toBe(false);
  });

  it('has a name that sorts by time', async () => {
    const stateDir = tempFolder();
    const early = await createThread({
      stateDir,
      workspace: tempFolder(),
      goal: 'a',
      ephemeral: false,
      redactor,
      clock: { now: () => 1_000_000 },
    });
    const late = await createThread({
      stateDir,
      workspace: tempFolder(),
      goal: 'b',
      ephemeral: false,
      redactor,
      clock,
    });
    expect(late.id).toMatch(/^t_[0-9a-z]{9}_[0-9a-f]{10}$/);
    expect([late.id, early.id].sort()).toEqual([early.id, late.id]);
    await Promise.all([early.close(), late.close()]);
    const [summary] = await listThreads(stateDir);
    expect(summary).toMatchObject({ id: early.id, goal: 'a', created: '1970-01-01T00:16:40.000Z', outcome: null });
  });

  it('leaves nothing behind when it is ephemeral', async () => {
    const { thread, stateDir } = await newThread({ ephemeral: true });
    await thread.appendNote(note('a'));
    expect(thread.dir.startsWith(stateDir)).toBe(false);
    expect(statSync(thread.dir).mode & 0o777).toBe(0o700);
    await thread.close();
    await thread.close();
    expect(existsSync(thread.dir)).toBe(false);
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it('writes artifacts to the byte, atomically, under simple names only', async () => {
    const { thread } = await newThread();
    const path = await thread.writeArtifact('rejected.patch', Buffer.from([0, 255, 10]));
    await thread.writeArtifact('rejected.patch', 'second');
    expect([readFileSync(path, 'utf8'), readdirSync(join(thread.dir, 'artifacts'))]).toEqual([
      'second',
      ['rejected.patch'],
    ]);
    for (const name of ['../x', 'a/b', '', '.hidden'])
      await expect(thread.writeArtifact(name, '')).rejects.toThrow(/^bug/);
    await thread.close();
  });

  it('names the folder and the way out when it cannot be written', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    const stateDir = join(folder, 'file', 'state');
    const failure = newThread({ stateDir });
    await expect(failure).rejects.toBeInstanceOf(UsageError);
    await expect(failure).rejects.toThrow(new RegExp(`${stateDir}.*BELAY_HOME.*--ephemeral`));
  });

  it('refuses a state folder inside the workspace', async () => {
    const workspace = tempFolder();
    const options = { workspace, goal: 'a', ephemeral: false, redactor, clock };
    await expect(createThread({ ...options, stateDir: join(workspace, 'state') })).rejects.toThrow(
      /inside the workspace/,
    );
  });
});

describe('an interrupted thread', () => {
  it('goes on behind half a line, with the chain unbroken', async () => {
    const { thread, stateDir } = await newThread();
    await record(thread).emit(started);
    await thread.appendNote(note('one'));
    await thread.close();
    for (const file of ['events.jsonl', 'notes.jsonl'])
      appendFileSync(join(thread.dir, file), `{"v":1,"seq":1${' '.repeat(100_000)}`);
    expect(await notesOf(stateDir, thread.id)).toMatchObject([{ kind: 'note' }, { kind: 'fault', lineNumber: 2 }]);

    const resumed = await resumeThread({ stateDir, id: thread.id, version: '0.1.0', redactor, clock });
    await resumed.appendNote(note('two'));
    await resumed.close();
    expect(await notesOf(stateDir, thread.id)).toEqual([
      { kind: 'note', note: note('one') },
      { kind: 'note', note: note('two') },
    ]);
    expect(readFileSync(join(thread.dir, 'events.jsonl'), 'utf8').split('\n')).toEqual([
      expect.stringMatching(/^\{.*\}$/),
      '',
    ]);
  });

  it('is busy while a run writes it, and can be read', async () => {
    const { thread, stateDir } = await newThread();
    const failure = resumeThread({ stateDir, id: thread.id, version: '0.1.0', redactor, clock });
    await expect(failure).rejects.toBeInstanceOf(RunBlockedError);
    await expect(failure).rejects.toThrow(`thread ${thread.id} is in use by process ${process.pid}`);
    expect((await openThread(stateDir, thread.id)).id).toBe(thread.id);
    await thread.close();
    await (await resumeThread({ stateDir, id: thread.id, version: '0.1.0', redactor, clock })).close();
  });

  it('is not resumed when its notes were altered', async () => {
    const { thread, stateDir } = await newThread();
    await thread.appendNote(note('one'));
    await thread.appendNote(note('two'));
    await thread.close();
    const path = join(thread.dir, 'notes.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace('one', 'own'));
    await expect(resumeThread({ stateDir, id: thread.id, version: '0.1.0', redactor, clock })).rejects.toThrow(
      /notes.jsonl, line 2 does not follow/,
    );
    await expect(resumeThread({ stateDir, id: thread.id, version: '0.1.0', redactor, clock })).rejects.toThrow(
      /notes.jsonl/,
    );
  });

  it('is a usage error when there is none of that name', async () => {
    const stateDir = tempFolder();
    mkdirSync(join(stateDir, 'threads'));
    for (const id of ['no-such-thread', '../threads', '', 'a/../../etc', 'x'.repeat(5000)]) {
      await expect(openThread(stateDir, id)).rejects.toBeInstanceOf(UsageError);
    }
  });
});

describe('pruneThreads', () => {
  it('removes old threads, but none in use', async () => {
    const { thread: old, stateDir } = await newThread();
    await old.close();
    const { thread: busy } = await newThread({ stateDir });
    const olderThan = (createdBeforeMs: number) =>
      pruneThreads(stateDir, { createdBeforeMs, maxBytes: null, dryRun: false });
    expect(await olderThan(clock.now())).toEqual([]);
    expect(await olderThan(clock.now() + 1)).toEqual([{ id: old.id, bytes: expect.any(Number) }]);
    expect((await listThreads(stateDir)).map((thread) => thread.id)).toEqual([busy.id]);
    await busy.close();
  });
});
