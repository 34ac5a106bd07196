import path from 'node:path';
import { hasCode } from '../errors.ts';
import type { LaidTree } from '../workspace/index.ts';
import { type FoundHoldout, isLaid, listHoldout } from './holdout.ts';
import type { Room } from './rooms.ts';

export interface JudgedSite {
  laid: LaidTree;
  holdouts: readonly FoundHoldout[];
  /** Lays the hidden files once more. */
  layHoldouts(): Promise<void>;
  /** The folder of the room, and the writable one in it, relative to that. */
  roomRoot: string;
  roomDir: string;
}

/** The files of a room that decide: the tree's, and the hidden ones that lie over it. */
export async function watchJudged(site: JudgedSite): Promise<Pick<Room, 'changed' | 'putBack'>> {
  const { laid, holdouts, roomRoot, roomDir } = site;
  const hidden = (await Promise.all(holdouts.map(listHoldout))).flat().map(({ from, to }) => ({
    from,
    to: path.posix.join(roomDir, to),
  }));
  const isCovered = (file: string) =>
    hidden.some(({ to }) => to === file || to.startsWith(`${file}/`) || file.startsWith(`${to}/`));
  return {
    async changed() {
      const found = (await laid.changed()).filter((file) => !isCovered(file));
      for (const file of hidden) if (!(await isLaid(file, roomRoot))) found.push(file.to);
      return found;
    },
    async putBack(changed) {
      const reason = await laid.putBack(changed.filter((file) => !isCovered(file)));
      return reason ?? (await layAgain(site));
    },
  };
}

/** Returns why that did not work, or null: a check may have closed a folder. */
async function layAgain(site: JudgedSite): Promise<string | null> {
  try {
    await site.layHoldouts();
    return null;
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    return error instanceof Error ? error.message : 'a hidden file cannot be laid again';
  }
}
