import type { Stats } from 'node:fs';
import type { FileChange } from '../events/index.ts';
import { applyChunks } from './apply-chunks.ts';
import type { FileEdit } from './commit-files.ts';
import { isBinary, parseFileText, renderFileText } from './file-text.ts';
import type { Chunk, Hunk } from './parse-patch.ts';
import { readBytes } from './read-bytes.ts';
import { type PathPorts, type PathUse, resolvePath, type SafePath, shownPath } from './safe-path.ts';

export type PatchPlan =
  | { kind: 'planned'; edits: readonly FileEdit[]; changes: readonly FileChange[]; remarks: readonly string[] }
  | { kind: 'refused'; reason: string; denied: boolean };

/** A file as it will stand after the hunks so far. */
interface PlannedFile {
  path: SafePath;
  before: { stat: Stats; bytes: Buffer | null } | null;
  /** null: not there. */
  after: Buffer | null;
  mode: number | null;
}

class Refusal extends Error {
  readonly denied: boolean;
  constructor(reason: string, denied = false) {
    super(reason);
    this.denied = denied;
  }
}

/** Works out in memory what a patch makes of the files; touches nothing. Later hunks see what earlier ones did. */
export async function planPatch(ports: PathPorts, hunks: readonly Hunk[]): Promise<PatchPlan> {
  const plan = createPlan(ports);
  try {
    for (const hunk of hunks) {
      if (hunk.kind === 'add') await plan.add(hunk.path, hunk.lines);
      else if (hunk.kind === 'delete') await plan.remove(hunk.path);
      else await plan.update(hunk);
    }
    return plan.result();
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', reason: error.message, denied: error.denied };
    throw error;
  }
}

function createPlan(ports: PathPorts) {
  const files = new Map<string, PlannedFile>();
  const remarks: string[] = [];

  async function locate(written: string, use: PathUse): Promise<SafePath> {
    const resolution = await resolvePath(ports, written, use);
    if (resolution.kind === 'refused') throw new Refusal(resolution.reason, resolution.denied);
    return resolution.path;
  }

  /** Where content goes: through links, but not through one that the patch has removed. */
  async function locateContent(written: string): Promise<SafePath> {
    const entry = await locate(written, 'remove');
    if (entry.stat?.isSymbolicLink() === true && files.has(entry.absolute)) {
      throw new Refusal(`${written} is a symbolic link that the patch itself removes: write to it in another patch`);
    }
    return locate(written, 'write');
  }

  /** The planned file at a path, its content not yet read. */
  function fileAt(path: SafePath): PlannedFile {
    const before = path.stat === null ? null : { stat: path.stat, bytes: null };
    const file = files.get(path.absolute) ?? { path, before, after: null, mode: null };
    files.set(path.absolute, file);
    return file;
  }

  async function contentOf(written: string): Promise<{ file: PlannedFile; bytes: Buffer }> {
    const path = await locateContent(written);
    const planned = files.get(path.absolute);
    if (planned !== undefined) {
      if (planned.after === null) throw new Refusal(`${written} does not exist: the patch itself removes it`);
      return { file: planned, bytes: planned.after };
    }
    const read = await readBytes(path);
    if (read.kind === 'failed') throw new Refusal(read.reason);
    const file = fileAt(path);
    file.before = { stat: read.stat, bytes: read.bytes };
    file.after = read.bytes;
    return { file, bytes: read.bytes };
  }

  /** A file that a new content is put into, whatever was there. */
  async function target(written: string): Promise<PlannedFile> {
    const path = await locateContent(written);
    if (path.stat !== null && !path.stat.isFile()) {
      throw new Refusal(`${written} is ${path.stat.isDirectory() ? 'a folder' : 'not a regular file'}`);
    }
    return fileAt(path);
  }

  return {
    async add(written: string, lines: readonly string[]): Promise<void> {
      const file = await target(written);
      file.after = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    },

    async remove(written: string): Promise<void> {
      const path = await locate(written, 'remove');
      const planned = files.get(path.absolute);
      if (planned === undefined ? path.stat === null : planned.after === null) {
        throw new Refusal(`${written} does not exist`);
      }
      if (path.stat !== null && !path.stat.isFile() && !path.stat.isSymbolicLink()) {
        throw new Refusal(
          `${written} is ${path.stat.isDirectory() ? 'a folder' : 'not a regular file'}: it cannot be deleted`,
        );
      }
      fileAt(path).after = null;
    },

    async update({ path: written, moveTo, chunks }: Hunk & { kind: 'update' }): Promise<void> {
      const { file, bytes } = await contentOf(written);
      const after = chunks.length === 0 ? bytes : updated(written, bytes, chunks);
      if (moveTo === null) {
        file.after = after;
        return;
      }
      const source = await locate(written, 'remove');
      if (source.stat?.isSymbolicLink() === true) {
        throw new Refusal(`${written} is a symbolic link to ${file.path.relative}: move that file instead`);
      }
      const destination = await target(moveTo);
      if (destination !== file) file.after = null;
      destination.after = after;
      destination.mode = file.mode ?? (file.before === null ? null : file.before.stat.mode & 0o7777);
    },

    result(): PatchPlan {
      const edits: FileEdit[] = [];
      const changes: FileChange[] = [];
      for (const { path, before, after, mode } of files.values()) {
        if (before === null && after === null) continue;
        const unchangedMode = mode === null || before === null || (before.stat.mode & 0o7777) === mode;
        if (unchangedMode && before !== null && after !== null && before.bytes?.equals(after) === true) continue;
        const name = shownPath(ports, path.relative);
        edits.push({ absolute: path.absolute, name, before: before?.stat ?? null, after, mode });
        changes.push({ path: path.relative, kind: after === null ? 'delete' : before === null ? 'add' : 'update' });
      }
      return { kind: 'planned', edits, changes, remarks };
    },
  };

  function updated(written: string, bytes: Buffer, chunks: readonly Chunk[]): Buffer {
    if (isBinary(bytes)) throw new Refusal(`${written} is a binary file: only text can be patched`);
    const applied = applyChunks(parseFileText(bytes), chunks);
    if (applied.kind === 'failed') throw new Refusal(`${written}: ${applied.reason}`);
    if (applied.loosest !== 'exact') {
      remarks.push(`${written} matched only after ignoring differences in ${applied.loosest}: check the result.`);
    }
    return renderFileText(applied.file);
  }
}
