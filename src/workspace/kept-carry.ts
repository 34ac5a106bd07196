import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { hasCode } from '../errors.ts';
import { captureCarry, copyEntries, layCarry } from './carry.ts';
import { differingEntries } from './differing-entries.ts';
import { ensureFolder, type Owner, removeEntry, statOf } from './place-file.ts';

/** Ignored files as they were before the agent came: what the clean room gets, and what the workspace gets back. */
export interface KeptCarry {
  /** Takes the place of what was there only once all is copied. Paths are relative to the root. */
  capture(paths: readonly string[]): Promise<void>;
  layInto(roomRoot: string): Promise<void>;
  /**
   * Makes the ignored files of the workspace what they were, where it is the one that they were copied from: that of this run, or of an
   * earlier one that was killed or kept its change. With `aside`, what stood in their place is moved into that folder.
   */
  putBack(options?: { aside: string }): Promise<void>;
  drop(): Promise<void>;
}

const FACTS = 'carry.json';
const Facts = z.strictObject({ root: z.string(), at_ms: z.number(), paths: z.array(z.string()) });

/** Where a thread's folder has them. */
export const carryFolder = (threadDir: string): string => join(threadDir, 'carry');

/** For a thread that branches off from one whose run left some. */
export const copyKeptCarry = async (fromThreadDir: string, toThreadDir: string): Promise<void> => {
  if ((await statOf(carryFolder(fromThreadDir))) !== null) await copyEntries([carryFolder(fromThreadDir)], toThreadDir);
};

/** `folder`: ours, outside the workspace; it goes with the thread. */
export const createKeptCarry = ({ root, folder }: { root: string; folder: string }): KeptCarry => {
  const files = join(folder, 'files');
  const facts = async () => {
    try {
      return Facts.parse(JSON.parse(await readFile(join(folder, FACTS), 'utf8')));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  };
  return {
    capture: async (paths) => {
      const draft = `${folder}.part`;
      await rm(draft, { recursive: true, force: true });
      const atMs = Date.now();
      const captured = await captureCarry({ from: root, to: join(draft, 'files'), paths });
      await writeFile(join(draft, FACTS), JSON.stringify({ root, at_ms: atMs, paths: captured }));
      await rm(folder, { recursive: true, force: true });
      await rename(draft, folder);
    },
    layInto: (roomRoot) => layCarry({ from: files, to: roomRoot }),
    putBack: async (options) => {
      const known = await facts();
      // Another checkout has ignored files of its own, which no agent of this thread was at.
      if (known === null || known.root !== root) return;
      const owner = await ownerOf(root);
      for (const path of known.paths) {
        // No link on the way leads out: what is compared and removed below is the workspace's.
        await ensureFolder({ root, path: path.includes('/') ? dirname(path) : '', owner });
        for (const entry of await differingEntries({ kept: files, now: root, path, sinceMs: known.at_ms })) {
          if (options === undefined) await removeEntry(join(root, entry));
          else await (await import('./move-aside.ts')).moveAside({ root, path: entry, aside: options.aside });
          if ((await statOf(join(files, entry))) !== null)
            await copyEntries([join(files, entry)], dirname(join(root, entry)));
        }
      }
    },
    drop: () => rm(folder, { recursive: true, force: true }),
  };
};

const ownerOf = async (root: string): Promise<Owner> => {
  const found = process.geteuid?.() === 0 ? await statOf(root) : null;
  return found === null || found.uid === 0 ? null : { uid: found.uid, gid: found.gid };
};
