import { isUtf8 } from 'node:buffer';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { statOrNull } from '../sandbox/index.ts';
import { splitNul } from './git.ts';
import { removeEntry } from './place-file.ts';
import { GAVE_UP, STATUS, scanWorkTree } from './scan.ts';
import { statBelow } from './stat-below.ts';
import { isPinned, isRecordable, repositoriesAdded, type SnapshotSite, stillUnrecorded } from './take-snapshot.ts';
import { unreadableFolders } from './unreadable-folders.ts';

const SLASH = 47;

/**
 * Takes away names that are not UTF-8 or that git refuses, and opens what its owner may not read. A workspace with either is refused at
 * the start, so a run made them: without this, a file name would keep the workspace from being put back.
 */
export const makeRecordable = async (site: SnapshotSite): Promise<void> => {
  await openFolders(site);
  await removeBroken(site);
  await removeUnnamed(site);
  const { touched, untracked } = await scanWorkTree(site.git);
  for (const path of [...touched, ...untracked]) await openFile(join(site.root, path));
  await removeRefused(site, [...touched, ...untracked]);
};

/** Names of which git's index takes none. */
const removeRefused = async (site: SnapshotSite, found: readonly string[]): Promise<void> => {
  const { git, root, pinned, held } = site;
  const folders = new Map<string, boolean>();
  const paths = found.filter((path) => !isPinned(pinned, path) && isRecordable(statBelow(root, path, folders)));
  if (paths.length === 0) return;
  held.tree = null;
  const leftAfterAdding = async (some: readonly string[]): Promise<readonly string[]> => {
    if (some.length === 0) return some;
    // A refused name is passed over with a complaint alone; what fails for another reason (a full disk) must not count as one.
    await git.run(['update-index', '--add', '--replace', '-z', '--stdin'], {
      stdin: some.map((path) => `${path}\0`).join(''),
    });
    return stillUnrecorded(git, some);
  };
  // Twice: one that changed while it was taken is none either.
  for (const path of await leftAfterAdding(await leftAfterAdding(paths))) await removeEntry(join(root, path));
};

/** Again and again: what lies in a closed folder shows once it is open. */
const openFolders = async ({ root, pinned }: SnapshotSite): Promise<void> => {
  const seen = new Set<string>();
  for (;;) {
    const closed = (await unreadableFolders(root)).filter((path) => !isPinned(pinned, path) && !seen.has(path));
    if (closed.length === 0) return;
    for (const folder of closed) {
      seen.add(folder);
      await chmod(join(root, folder), 0o700);
    }
  }
};

const openFile = async (path: string): Promise<void> => {
  const stats = statOrNull(path);
  if (stats?.isFile() && (stats.mode & 0o400) === 0) await chmod(path, stats.mode | 0o600);
};

/** Where git stops at one of the repositories that came, all of them go. Names are not looked at: any may be among them yet. */
const removeBroken = async (site: SnapshotSite): Promise<void> => {
  if ((await site.git.call(STATUS)).code !== GAVE_UP) return;
  for (const path of await repositoriesAdded(site)) await rm(path, { recursive: true, force: true });
};

const removeUnnamed = async ({ git, root, pinned }: SnapshotSite): Promise<void> => {
  for (const entry of splitNul(await git.run([...STATUS, '--ignored=matching']))) {
    const name = entry.subarray(2);
    if (!['?', '!'].includes(String.fromCharCode(entry[0] ?? 0)) || isUtf8(name)) continue;
    const { above, part } = firstUnnamed(name);
    if (isPinned(pinned, above)) continue;
    await rm(Buffer.concat([Buffer.from(`${root}/`), part]), { recursive: true, force: true });
  }
};

/** The path up to and with its first part that is not UTF-8, and what is above that. */
const firstUnnamed = (name: Buffer): { above: string; part: Buffer } => {
  for (let start = 0; ; ) {
    const slash = name.indexOf(SLASH, start);
    const end = slash < 0 ? name.length : slash;
    if (!isUtf8(name.subarray(start, end)) || slash < 0)
      return { above: name.subarray(0, Math.max(0, start - 1)).toString('utf8'), part: name.subarray(0, end) };
    start = slash + 1;
  }
};
