import type { Event } from '../events/index.ts';
import type { OutputReading } from './stored-output.ts';
import type { ThreadNote } from './thread-note.ts';

export interface OutputRecord {
  /** Short, unique in the thread; what `read_output` takes. */
  id: string;
  totalBytes: number;
  sha256: string;
  /** Less than `totalBytes` when the thread has no more room: the beginning is kept, the rest only counted and hashed. */
  storedBytes?: number;
}

/** A growing output on disk. */
export interface OutputWriter {
  readonly id: string;
  write(chunk: Buffer): Promise<void>;
  end(): Promise<OutputRecord>;
}

/**
 * The durable log of one thread: append-only, hash-chained, one writer. `append*` resolve when the record survives the death of the
 * process; before an effect starts, an approval is waited for or the run ends, all records so far are also synced to disk
 * (`ephemeral` threads live in a private temporary folder that `close` removes).
 */
export interface Thread {
  readonly id: string;
  /** Folder outside the workspace with everything of this thread. */
  readonly dir: string;
  appendEvent(line: string, event: Event): Promise<void>;
  /** Resolves with the note as it is kept: without known secrets. */
  appendNote(note: ThreadNote): Promise<ThreadNote>;
  openOutput(): Promise<OutputWriter>;
  /** null when there is none of that id. */
  readOutput(id: string, range: { offset: number; limit: number }): Promise<OutputReading | null>;
  /** Gives back the space set aside for the day when the disk is full: what is left to do (putting the workspace back) needs some. */
  dropBallast(): Promise<void>;
  /** Writes a file of the thread (the rejected patch, the result) atomically; returns its path. */
  writeArtifact(name: string, bytes: Buffer | string): Promise<string>;
  close(): Promise<void>;
}
