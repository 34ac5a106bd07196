import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/events/index.ts';
import {
  createThread,
  forkThread,
  openThread,
  resumeThread,
  type Thread,
  type ThreadNote,
} from '../../src/thread/index.ts';
import { openOutputStore } from '../../src/thread/output-store.ts';
import type { OutputNote } from '../../src/thread/stored-output.ts';
import { tempFolder } from '../events/temp-folder.ts';

const redactor = createRedactor([]);
const clock = { now: () => Date.UTC(2030, 0, 1) };
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const whole = { offset: 0, limit: 1_000_000 };

async function newThread(): Promise<{ thread: Thread; stateDir: string }> {
  const stateDir = tempFolder();
  const workspace = tempFolder();
  return {
    thread: await createThread({ stateDir, workspace, goal: 'go', redactor, clock, ephemeral: false }),
    stateDir,
  };
}
const resume = (stateDir: string, id: string) => resumeThread({ stateDir, id, version: '7.0.0', redactor, clock });
const blobsOf = ({ dir }: { dir: string }) => readdirSync(join(dir, 'blobs/sha256')).sort();

async function keep(thread: Thread, text: string) {
  const writer = await thread.openOutput();
  await writer.write(Buffer.from(text));
  return writer.end();
}

async function notesOf(stateDir: string, id: string): Promise<ThreadNote[]> {
  const notes = [];
  for await (const line of (await openThread(stateDir, id)).readNotes())
    if (line.kind === 'note') notes.push(line.note);
  return notes;
}

async function faultsOf(stateDir: string, id: string): Promise<string[]> {
  const faults = [];
  for await (const fault of (await openThread(stateDir, id)).checkOutputs()) faults.push(fault);
  return faults;
}

describe('outputs', () => {
  it('stand under the SHA-256 of their bytes, the same ones once, and are read in parts while they grow and after the run', async () => {
    const { thread, stateDir } = await newThread();
    const writer = await thread.openOutput();
    await writer.write(Buffer.from('0123456789'));
    const part = { bytes: Buffer.from('234'), totalBytes: 10, storedBytes: 10 };
    expect(await thread.readOutput(writer.id, { offset: 2, limit: 3 })).toEqual(part);
    const digest = sha256('0123456789');
    expect(await writer.end()).toEqual({ id: 'o1', totalBytes: 10, storedBytes: 10, sha256: digest });
    expect(await keep(thread, '0123456789')).toMatchObject({ id: 'o2', sha256: digest });
    expect(await keep(thread, 'other')).toMatchObject({ id: 'o3' });
    expect(blobsOf(thread)).toEqual([digest, sha256('other')].sort());
    expect(readFileSync(join(thread.dir, 'blobs/sha256', digest), 'utf8')).toBe('0123456789');
    expect(readdirSync(join(thread.dir, 'blobs'))).toEqual(['sha256']);
    for (const id of ['o1', 'o2'])
      expect(await thread.readOutput(id, { offset: 8, limit: 100 })).toMatchObject({ bytes: Buffer.from('89') });
    expect(await thread.readOutput('o1', { offset: 10, limit: 100 })).toMatchObject({ bytes: Buffer.alloc(0) });
    for (const id of ['o99', '../meta.json', 'o1.json', digest]) expect(await thread.readOutput(id, whole)).toBeNull();
    await thread.close();
    const resumed = await resume(stateDir, thread.id);
    expect(await resumed.readOutput('o2', { offset: 2, limit: 3 })).toEqual(part);
    expect(await keep(resumed, 'more')).toMatchObject({ id: 'o4' });
    await resumed.close();
    expect(await faultsOf(stateDir, thread.id)).toEqual([]);
  });

  it('are all known when they are empty', async () => {
    const { thread } = await newThread();
    const none = { totalBytes: 0, storedBytes: 0 };
    expect(await (await thread.openOutput()).end()).toEqual({ id: 'o1', ...none, sha256: sha256('') });
    expect(await thread.readOutput('o1', whole)).toEqual({ bytes: Buffer.alloc(0), ...none });
    expect(blobsOf(thread)).toEqual([]);
    await thread.close();
  });

  it('that were changed since are not read, and each is told', async () => {
    const { thread, stateDir } = await newThread();
    const pathOf = (text: string) => join(thread.dir, 'blobs/sha256', sha256(text));
    for (const text of ['changed', 'cut', 'longer', 'good']) await keep(thread, text);
    expect(await thread.readOutput('o1', whole)).toMatchObject({ bytes: Buffer.from('changed') });
    writeFileSync(pathOf('changed'), 'chanced');
    truncateSync(pathOf('cut'), 1);
    appendFileSync(pathOf('longer'), '!');
    const faults = [
      'output o1 was changed: its bytes have another SHA-256 than those that were kept',
      'output o2 has 1 bytes, not the 3 that were kept',
      'output o3 has 7 bytes, not the 6 that were kept',
    ];
    const read = [];
    for (const id of ['o1', 'o2', 'o3']) read.push(await thread.readOutput(id, whole));
    expect(read).toEqual(faults.map((fault) => ({ fault })));
    expect(await thread.readOutput('o4', whole)).toMatchObject({ bytes: Buffer.from('good') });
    // Written anew, the same bytes are whole again.
    await keep(thread, 'changed');
    expect(await thread.readOutput('o1', whole)).toMatchObject({ bytes: Buffer.from('changed') });
    await thread.close();
    expect(await faultsOf(stateDir, thread.id)).toEqual(faults.slice(1));
  });

  it('that were growing when the run was killed are kept as far as they came, by whoever goes on', async () => {
    const { thread, stateDir } = await newThread();
    await keep(thread, 'ended');
    await thread.close();
    writeFileSync(join(thread.dir, 'blobs/o2.part'), 'half an out');
    writeFileSync(join(thread.dir, 'blobs/o3.part'), '');
    const resumed = await resume(stateDir, thread.id);
    expect(readdirSync(join(thread.dir, 'blobs'))).toEqual(['sha256']);
    expect(await resumed.readOutput('o2', whole)).toMatchObject({ bytes: Buffer.from('half an out'), totalBytes: 11 });
    expect(await resumed.readOutput('o3', whole)).toBeNull();
    expect(await keep(resumed, 'next')).toMatchObject({ id: 'o3' });
    await resumed.close();
    const notes = await notesOf(stateDir, thread.id);
    expect(notes.map((note) => (note.kind === 'output' ? [note.id, note.isCutOff ?? false] : note))).toEqual([
      ['o1', false],
      ['o2', true],
      ['o3', false],
    ]);
  });
});

it('a fork has what its notes name, also where no event names it', async () => {
  const { thread, stateDir } = await newThread();
  await keep(thread, 'taken out of the context');
  await thread.close();
  const fork = await forkThread({
    ...{ stateDir, from: await openThread(stateDir, thread.id), turn: 0, goal: null, workspace: tempFolder() },
    ...{ version: '7.0.0', redactor, clock: { now: () => clock.now() + 1 }, async complete() {} },
  });
  const resumed = await resume(stateDir, fork);
  expect(await resumed.readOutput('o1', whole)).toMatchObject({ bytes: Buffer.from('taken out of the context') });
  await resumed.close();
});

describe('the room for outputs', () => {
  const options = (dir: string, notes: OutputNote[]) => ({
    ...{ dir, redactor, durable: true, maxBytes: 1000, kept: new Map(notes.map((note) => [note.id, note])) },
    record: async (note: OutputNote) => notes.push(note),
  });

  it('that is used up keeps the beginning, and the rest is counted and hashed', async () => {
    const [dir, notes]: [string, OutputNote[]] = [tempFolder(), []];
    mkdirSync(join(dir, 'blobs/sha256'), { recursive: true });
    const store = await openOutputStore(options(dir, notes));
    const [one, two] = [await store.openOutput(), await store.openOutput()];
    await one.write(Buffer.alloc(400, 'a'));
    await two.write(Buffer.alloc(500, 'b'));
    const rest = Buffer.alloc(1_000_000, 'c');
    await one.write(rest);
    await two.write(Buffer.from('late'));
    const digest = sha256(Buffer.concat([Buffer.alloc(400, 'a'), rest]));
    const stored = `${'a'.repeat(400)}${'c'.repeat(100)}`;
    expect(await one.end()).toEqual({ id: 'o1', totalBytes: 1_000_400, storedBytes: 500, sha256: digest });
    expect(await two.end()).toMatchObject({ totalBytes: 504, storedBytes: 500 });
    expect(notes.map(({ blob }) => blob)).toEqual([sha256(stored), sha256(Buffer.alloc(500, 'b'))]);
    expect(await store.readOutput('o1', { offset: 399, limit: 1000 })).toEqual({
      bytes: Buffer.from(`a${'c'.repeat(100)}`),
      totalBytes: 1_000_400,
      storedBytes: 500,
    });
    const sizes = readdirSync(join(dir, 'blobs/sha256')).map((name) => statSync(join(dir, 'blobs/sha256', name)).size);
    expect(sizes).toEqual([500, 500]);
    await store.close();
    const again = await openOutputStore(options(dir, notes));
    const three = await again.openOutput();
    await three.write(Buffer.from('x'));
    expect(await three.end()).toMatchObject({ id: 'o3', totalBytes: 1, storedBytes: 0 });
    expect(notes.at(-1)?.blob).toBeNull();
    await again.close();
  });

  it('is taken once by the same bytes', async () => {
    const [dir, notes]: [string, OutputNote[]] = [tempFolder(), []];
    mkdirSync(join(dir, 'blobs/sha256'), { recursive: true });
    for (const left of [400, 400, 400, 200]) {
      // Each time as a later run of the thread finds it, and within one.
      const store = await openOutputStore(options(dir, notes));
      for (let i = 0; i < 2; i++) {
        const writer = await store.openOutput();
        await writer.write(Buffer.alloc(left, String(left)));
        expect(await writer.end()).toMatchObject({ storedBytes: left });
      }
      await store.close();
    }
    expect(notes).toHaveLength(8);
  });
});
