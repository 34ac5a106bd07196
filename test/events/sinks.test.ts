import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SinkError, UsageError } from '../../src/errors.ts';
import { createFileSink, createStreamSink, type Event } from '../../src/events/index.ts';
import { runStarted, write } from './sample-events.ts';
import { tempFolder } from './temp-folder.ts';

async function anEvent(): Promise<Event> {
  const [event] = (await write([runStarted])).events;
  if (event === undefined) throw new Error('no event');
  return event;
}

describe('the stream sink', () => {
  it('waits while the stream is full, and at the end until it is empty', async () => {
    const release: (() => void)[] = [];
    const stream = new Writable({
      highWaterMark: 4,
      write: (_chunk, _encoding, done) => {
        release.push(done);
      },
    });
    const sink = createStreamSink(stream, 'stdout');
    const event = await anEvent();
    const done: string[] = [];
    const first = sink.write('12345\n', event).then(() => done.push('written'));
    await new Promise(setImmediate);
    expect(done).toEqual([]);
    release.shift()?.();
    await first;
    const second = sink
      .write('1\n', event)
      .then(() => sink.close())
      .then(() => done.push('closed'));
    await new Promise(setImmediate);
    expect(done).toEqual(['written']);
    while (!done.includes('closed')) {
      release.shift()?.();
      await new Promise(setImmediate);
    }
    await second;
    expect(stream.writableEnded).toBe(false);
  });

  it('says that the reader of a pipe is gone, and goes on saying it', async () => {
    const reader = spawn(process.execPath, ['-e', 'process.stdin.destroy()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const sink = createStreamSink(reader.stdin, 'stdout');
    await once(reader, 'exit');
    const event = await anEvent();
    const failure = (async () => {
      for (;;) await sink.write(`${'x'.repeat(100_000)}\n`, event);
    })();
    await expect(failure).rejects.toMatchObject({ name: 'SinkError', reason: 'closed', target: 'stdout' });
    await expect(sink.write('x\n', event)).rejects.toBeInstanceOf(SinkError);
    await expect(sink.close()).rejects.toBeInstanceOf(SinkError);
  });
});

describe('the file sink', () => {
  it('empties the file, then holds the lines', async () => {
    const path = join(tempFolder(), 'events.jsonl');
    writeFileSync(path, 'old text\n');
    const sink = await createFileSink(path);
    const { lines, events } = await write([runStarted, { type: 'thread.started', thread_id: 't_1' }]);
    for (const [i, event] of events.entries()) await sink.write(lines[i] ?? '', event);
    await sink.close();
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
  });

  it('creates no folder and names the one that is missing', async () => {
    const folder = join(tempFolder(), 'none');
    const failure = createFileSink(join(folder, 'events.jsonl'));
    await expect(failure).rejects.toBeInstanceOf(UsageError);
    await expect(failure).rejects.toThrow(`the folder ${folder} does not exist`);
    expect(existsSync(folder)).toBe(false);
    await expect(createFileSink(tempFolder())).rejects.toBeInstanceOf(UsageError);
  });

  it.skipIf(!existsSync('/dev/full'))('says that the disk is full', async () => {
    const sink = await createFileSink('/dev/full');
    await expect(sink.write('x\n', await anEvent())).rejects.toMatchObject({ name: 'SinkError', reason: 'full' });
  });

  it.skipIf(process.platform === 'win32')('writes into a pipe, which cannot be synced', async () => {
    const pipe = join(tempFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    reader.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const sink = await createFileSink(pipe);
    await sink.write('line\n', await anEvent());
    await sink.close();
    await once(reader, 'close');
    expect(Buffer.concat(chunks).toString()).toBe('line\n');
  });
});
