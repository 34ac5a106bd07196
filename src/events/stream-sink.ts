import type { Writable } from 'node:stream';
import { hasCode, SinkError } from '../errors.ts';
import type { EventSink } from './event.ts';
import { disarmCommands } from './visible-text.ts';

/** A text writer with back-pressure over a Node stream, which it never ends: stdout and stderr belong to the process. */
export interface StreamWriter {
  /** Resolves when the stream has room again. Rejects with a SinkError once the stream is gone. */
  write(text: string): Promise<void>;
  /** Resolves when everything written has left the process. */
  flush(): Promise<void>;
}

/** `name` is for error messages: `stdout`. */
export function createStreamWriter(stream: Writable, name: string): StreamWriter {
  let failure: SinkError | null = null;
  const waiting = new Set<(error: SinkError) => void>();
  const fail = (cause: unknown) => {
    // A terminal that was closed says EIO.
    failure ??= new SinkError(name, 'isTTY' in stream && stream.isTTY && hasCode(cause, 'EIO') ? closed() : cause);
    for (const reject of waiting) reject(failure);
    waiting.clear();
  };
  const closed = () => Object.assign(new Error('the stream is closed'), { code: 'ERR_STREAM_DESTROYED' });
  // Stays for the life of the process: an `error` event without a listener would end it.
  stream.on('error', fail);
  stream.once('close', () => fail(closed()));

  /** Runs `start` and settles with it, or with the failure of the stream, whichever is first. */
  const settle = (start: (done: () => void) => void) =>
    new Promise<void>((resolve, reject) => {
      if (failure === null && (stream.destroyed || stream.writableEnded)) fail(closed());
      if (failure !== null) return reject(failure);
      waiting.add(reject);
      start(() => {
        waiting.delete(reject);
        resolve();
      });
    });

  return {
    write: (text) =>
      settle((done) => {
        if (stream.write(text)) done();
        else stream.once('drain', done);
      }),
    flush: () =>
      settle((done) => {
        stream.write('', (error) => (error ? fail(error) : done()));
      }),
  };
}

/** A writer of whole lines for people, in which no CI system reads a command. */
export function createTextWriter(stream: Writable, name: string): StreamWriter {
  const writer = createStreamWriter(stream, name);
  return { ...writer, write: (text) => writer.write(disarmCommands(text)) };
}

/** Every event as its line on a stream. */
export function createStreamSink(stream: Writable, name: string): EventSink {
  const writer = createStreamWriter(stream, name);
  return { write: (line) => writer.write(line), close: () => writer.flush() };
}
