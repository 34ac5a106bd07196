import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';

/** A run id names a file here, and in merges it comes from somebody else's. */
export const RunId = z.string().regex(/^r_[A-Za-z0-9_]{1,80}$/);
const Line = z.object({ run_id: RunId });

/** The streams of many runs, which come mixed, each in a file of its own until it is read. */
export interface RunLines {
  add(line: string): Promise<void>;
  /** The file with all lines of a run; null where none came. */
  read(runId: string): Promise<string | null>;
  forget(runId: string): Promise<void>;
  /** A file for the caller's own lines. */
  own(): Promise<string>;
  close(): Promise<void>;
}

/** Lines wait in memory up to this, so that a file is not opened for every one of them. */
const MOST_WAITING_CHARACTERS = 65_536;

/** Nothing is on disk before the first line. */
export function createRunLines(): RunLines {
  let folder: Promise<string> | null = null;
  const open = () => {
    folder ??= mkdtemp(join(tmpdir(), 'belay-reports-'));
    return folder;
  };
  const waiting = new Map<string, { lines: string[]; characters: number }>();
  const written = new Set<string>();
  const pathOf = async (runId: string) => join(await open(), `${runId}.jsonl`);

  async function flush(runId: string): Promise<void> {
    const mine = waiting.get(runId);
    if (mine === undefined) return;
    waiting.delete(runId);
    written.add(runId);
    await appendFile(await pathOf(runId), mine.lines.join(''));
  }

  return {
    own: async () => join(await open(), 'batch.jsonl'),
    async add(line) {
      const runId = Line.safeParse(JSON.parse(line)).data?.run_id;
      if (runId === undefined) return;
      const mine = waiting.get(runId) ?? { lines: [], characters: 0 };
      mine.lines.push(`${line}\n`);
      mine.characters += line.length;
      waiting.set(runId, mine);
      if (mine.characters > MOST_WAITING_CHARACTERS) await flush(runId);
    },
    async read(runId) {
      if (!RunId.safeParse(runId).success) return null;
      await flush(runId);
      return written.has(runId) ? pathOf(runId) : null;
    },
    async forget(runId) {
      waiting.delete(runId);
      if (written.delete(runId)) await rm(await pathOf(runId), { force: true });
    },
    async close() {
      if (folder !== null) await rm(await folder, { recursive: true, force: true });
    },
  };
}
