import { lchown, readdir, stat } from 'node:fs/promises';
import { joinBytes } from '../workspace/index.ts';

/**
 * Gives a folder that root laid out to the owner of another one: commands run as that owner and have to be able to write here as
 * they can there. Nothing to do for a belay that is not root.
 */
export async function ownLike(dir: string, model: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = await stat(model);
  if (uid !== 0) await own(Buffer.from(dir), uid, gid);
}

// Bytes, not text: a folder that git ignores may hold any name.
async function own(dir: Buffer, uid: number, gid: number): Promise<void> {
  await lchown(dir, uid, gid);
  for (const entry of await readdir(dir, { withFileTypes: true, encoding: 'buffer' })) {
    const at = joinBytes(dir, entry.name);
    if (entry.isDirectory()) await own(at, uid, gid);
    else await lchown(at, uid, gid);
  }
}
