import {
  appendFile,
  copyFile,
  constants as fs,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import type { Location, Repository } from './locate-repository.ts';
import type { UserSettings } from './user-settings.ts';

/** Our own git directory, outside the workspace. */
export interface Store {
  gitDir: string;
  indexFile: string;
  /** For temporary indexes and staged files; emptied at open. */
  scratch: string;
}

export const storeAt = (storeDir: string): Store => ({
  gitDir: join(storeDir, 'store.git'),
  indexFile: join(storeDir, 'store.git', 'index'),
  scratch: join(storeDir, 'store.git', 'scratch'),
});

/**
 * Attributes of the tree never convert, run or hide anything: `info/attributes` outranks every `.gitattributes`. Snapshots hold the
 * bytes on disk, and `-diff` cannot make lines uncountable. (`working-tree-encoding` takes no `-`.)
 */
const EXACT_BYTES = '* -text !eol -ident !filter !working-tree-encoding !diff';
/** For settings that convert every text file on this machine: attributes of the tree then have their say. */
export const EXACT_BUT_LINE_ENDS = '* -ident !filter !working-tree-encoding !diff';

export interface StoreOptions {
  storeDir: string;
  location: Location;
  settings: UserSettings;
  /** Keeps the attributes of the first open: the tree's are the agent's by now. */
  resumed: boolean;
}

/** Writes the store's layout by hand: `git init` would copy templates and cost a process. Keeps the objects that are there. */
export const createStore = async ({ storeDir, location, settings, resumed }: StoreOptions): Promise<Store> => {
  const store = storeAt(storeDir);
  const { repository } = location;
  await rm(store.scratch, { recursive: true, force: true });
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'info'])
    await mkdir(join(store.gitDir, folder), { recursive: true });
  await mkdir(store.scratch, { recursive: true });
  await rm(`${store.indexFile}.lock`, { force: true });
  const put = (name: string, text: string): Promise<void> => writeFile(join(store.gitDir, name), text);
  await put('config', renderConfig(repository, settings));
  await put('HEAD', `${repository?.head?.commit ?? 'ref: refs/heads/base'}\n`);
  await put('info/exclude', settings.exclude);
  if (!resumed) await put('info/attributes', `${settings.lineEnds === null ? EXACT_BYTES : EXACT_BUT_LINE_ENDS}\n`);
  if (settings.sparse !== null) await put('info/sparse-checkout', settings.sparse);
  // Read only: git at most renews the time stamp of an object there that a snapshot uses.
  await put(
    'objects/info/alternates',
    repository === null ? '' : `${quoteAlternate(join(repository.commonDir, 'objects'))}\n`,
  );
  if (repository !== null) await adoptIndex(repository, store);
  return store;
};

/**
 * A copy of the user's index: its stat data spares reading every file again, and an entry that is clean there keeps its blob,
 * also where the user's line-end settings make the bytes on disk differ.
 */
const adoptIndex = async (repository: Repository, store: Store): Promise<void> => {
  const users = join(repository.gitDir, 'index');
  try {
    const { atimeMs, mtimeMs } = await stat(users);
    await copyFile(users, store.indexFile, fs.COPYFILE_FICLONE);
    // An entry as young as its index is read again (it may have changed within one tick of the clock): the copy must not look younger.
    await utimes(store.indexFile, atimeMs / 1000, Math.floor(mtimeMs - 1) / 1000);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  for (const name of await readdir(repository.gitDir)) {
    if (name.startsWith('sharedindex.'))
      await copyFile(join(repository.gitDir, name), join(store.gitDir, name), fs.COPYFILE_FICLONE);
  }
};

const renderConfig = (repository: Repository | null, settings: UserSettings): string => {
  const sha256 = repository?.objectFormat === 'sha256';
  return [
    '[core]',
    `\trepositoryformatversion = ${sha256 ? 1 : 0}`,
    '\tbare = false',
    '\tfileMode = true',
    '\tsymlinks = true',
    '\tignoreCase = false',
    `\tautocrlf = ${settings.lineEnds?.autocrlf ?? 'false'}`,
    `\teol = ${settings.lineEnds?.eol ?? 'native'}`,
    '\tsafecrlf = false',
    '\tuntrackedCache = false',
    '\tlogAllRefUpdates = false',
    // Makes git look whether a path left out on purpose (skip-worktree, also without a sparse checkout) is there after all.
    '\tsparseCheckout = true',
    '[index]',
    '\tversion = 4',
    '\tsparse = false',
    ...(sha256 ? ['[extensions]', '\tobjectFormat = sha256'] : []),
    '',
  ].join('\n');
};

/** For a big index: remembers what each folder held (by its stat data), and writes differences to the index only. */
export const tuneStore = async (store: Store): Promise<void> => {
  // git keeps the memory of folders for the way of showing untracked files that is configured.
  const settings = '[core]\n\tuntrackedCache = true\n\tsplitIndex = true\n[status]\n\tshowUntrackedFiles = all\n';
  await appendFile(join(store.gitDir, 'config'), settings);
};

/** Whether every file is stored with the bytes on disk, whatever its name and whatever the index knows of it. */
export const storesExactly = async (store: Store): Promise<boolean> =>
  (await readFile(join(store.gitDir, 'info/attributes'), 'utf8')) === `${EXACT_BYTES}\n`;

/** A line of `alternates` that begins with a quote is C-quoted; one that begins with `#` is a comment. */
export const quoteAlternate = (path: string): string => (/["\n#]/.test(path) ? JSON.stringify(path) : path);
