import { joinBytes } from './byte-path.ts';
import { entriesOf } from './entries-of.ts';

const GIT = Buffer.from('.git');

/**
 * Each `.git` in a folder below the root, by its absolute path, but for what lies in folders that are passed over. git stops at one that it
 * cannot read: so these are found without it. Names need not be UTF-8; in a folder that cannot be read, git cannot stop either.
 */
export const strangeRepositories = async (root: string, passesOver: (folder: string) => boolean): Promise<Buffer[]> => {
  const found: Buffer[] = [];
  const top: Buffer = Buffer.from(root);
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = joinBytes(folder, entry.name);
      const below = path.subarray(top.length + 1).toString('utf8');
      if (entry.name.equals(GIT)) {
        if (folder !== top) found.push(path);
      } else if (entry.isDirectory() && !passesOver(below)) waiting.push(path);
    }
  }
  return found;
};
