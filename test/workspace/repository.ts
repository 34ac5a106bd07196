import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type OpenWorkspaceOptions, openWorkspace, type Workspace } from '../../src/workspace/index.ts';

/** Text or bytes of a file, an executable, a link, or null for an empty folder. */
export type Entry = string | Buffer | { run: string } | { link: string } | null;
export type Files = Readonly<Record<string, Entry>>;

const env = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

/** Plain git, as a user runs it: it converts, runs hooks and filters, and fetches. */
export const gitBytes = (dir: string, args: readonly string[], input: Buffer | string = ''): Buffer =>
  execFileSync('git', ['-C', dir, ...args], { env, input, stdio: 'pipe', maxBuffer: 64 * 1024 * 1024 });

export const git = (dir: string, ...args: string[]): string => gitBytes(dir, args).toString('utf8').trim();

export const createFolder = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'belay-workspace-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Each path is written anew; what was there goes. */
export const write = async (dir: string, files: Files): Promise<void> => {
  for (const [path, entry] of Object.entries(files)) {
    const target = join(dir, path);
    await rm(target, { recursive: true, force: true });
    await mkdir(entry === null ? target : dirname(target), { recursive: true });
    if (entry === null) continue;
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) await writeFile(target, entry);
    else if ('link' in entry) await symlink(entry.link, target);
    else {
      await writeFile(target, entry.run);
      await chmod(target, 0o755);
    }
  }
};

export const commit = (dir: string): string => {
  git(dir, 'add', '-A', '-f');
  git(dir, 'commit', '-q', '--allow-empty', '-m', 'commit');
  return git(dir, 'rev-parse', 'HEAD');
};

/** A repository with one commit that holds `files`. */
export const createRepository = async (files: Files = {}): Promise<string> => {
  const dir = await createFolder();
  git(dir, 'init', '-q', '-b', 'main');
  await write(dir, files);
  commit(dir);
  return dir;
};

export interface Opened {
  workspace: Workspace;
  storeDir: string;
}

export const open = async (dir: string, options: Partial<OpenWorkspaceOptions> = {}): Promise<Opened> => {
  const storeDir = options.storeDir ?? (await createFolder());
  const workspace = await openWorkspace({ dir, storeDir, ...options });
  onTestFinished(() => workspace.close());
  return { workspace, storeDir };
};

/** Mode and content of each entry of a snapshot, read by plain git. */
export const treeOf = ({ storeDir }: Opened, tree: string): Record<string, string> => {
  const store = join(storeDir, 'store.git');
  const found: Record<string, string> = {};
  for (const line of git(store, 'ls-tree', '-r', '-z', tree).split('\0')) {
    const [, mode = '', type = '', oid = '', path = ''] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
    if (line !== '')
      found[path] = type === 'blob' ? `${mode} ${gitBytes(store, ['cat-file', 'blob', oid]).toString('latin1')}` : mode;
  }
  return found;
};

/** Every entry of a folder but `.git`, with kind, permissions and bytes. */
export const photograph = async (dir: string, below = ''): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const name of (await readdir(join(dir, below))).sort()) {
    if (name === '.git') continue;
    const path = below === '' ? name : `${below}/${name}`;
    const stats = await lstat(join(dir, path));
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) found[path] = `link ${await readlink(join(dir, path))}`;
    else if (stats.isDirectory()) Object.assign(found, { [path]: 'folder' }, await photograph(dir, path));
    else found[path] = stats.isFile() ? `${mode} ${(await readFile(join(dir, path))).toString('latin1')}` : 'other';
  }
  return found;
};

/** All that belongs to the user's repository and that a run may not move. */
export const stateOf = async (dir: string): Promise<Record<string, unknown>> => {
  const gitDir = git(dir, 'rev-parse', '--absolute-git-dir');
  const common = git(dir, 'rev-parse', '--path-format=absolute', '--git-common-dir');
  const index = await readFile(join(gitDir, 'index')).catch(() => Buffer.alloc(0));
  return {
    index: index.toString('base64'),
    files: await readdir(gitDir),
    head: await readFile(join(gitDir, 'HEAD'), 'utf8'),
    config: await readFile(join(common, 'config'), 'utf8'),
    refs: git(dir, 'for-each-ref'),
    stash: git(dir, 'stash', 'list'),
    objects: (await readdir(join(common, 'objects'), { recursive: true })).sort(),
    entries: git(dir, 'ls-files', '-s'),
    status: gitBytes(dir, ['--no-optional-locks', 'status', '--porcelain', '-z']).toString('latin1'),
  };
};
