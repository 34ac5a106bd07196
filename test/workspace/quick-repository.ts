import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type OpenWorkspaceOptions, openWorkspace, type Workspace } from '../../src/workspace/index.ts';

/** A folder of its own, removed with the test. */
export const temporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-workspace-')));
  onTestFinished(() => {
    execFileSync('chmod', ['-R', 'u+rwX', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
};

const IDENTITY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

/** Plain git, as a user would call it, with no configuration but the repository's. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', ...IDENTITY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Values: content; `-> target` makes a link; a path that ends in `!` an executable. */
export const put = (root: string, files: Record<string, string | Buffer>): void => {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name.replace(/!$/, ''));
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    if (typeof content === 'string' && content.startsWith('-> ')) symlinkSync(content.slice(3), path);
    else writeFileSync(path, content);
    if (name.endsWith('!')) chmodSync(path, 0o755);
  }
};

export const createRepository = (
  files: Record<string, string | Buffer>,
  folder = join(temporaryFolder(), 'ws'),
): string => {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  put(folder, files);
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'base');
  return folder;
};

export const open = async (dir: string, options: Partial<OpenWorkspaceOptions> = {}): Promise<Workspace> => {
  const workspace = await openWorkspace({ dir, storeDir: join(temporaryFolder(), 'state'), ...options });
  onTestFinished(() => workspace.close());
  return workspace;
};

/** Each entry below `root` but `.git`: kind, permission bits and content, told as text; folders only when empty. */
export const look = (root: string, below = ''): Record<string, string> => {
  const seen: Record<string, string> = {};
  for (const name of readdirSync(join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const stats = lstatSync(join(root, path));
    if (name === '.git') continue;
    if (stats.isSymbolicLink()) seen[path] = `-> ${readlinkSync(join(root, path))}`;
    else if (stats.isFile())
      seen[path] = `${(stats.mode & 0o777).toString(8)} ${readFileSync(join(root, path), 'latin1')}`;
    else if (!stats.isDirectory()) seen[path] = 'special';
    else if (readdirSync(join(root, path)).length === 0) seen[path] = 'empty folder';
    else Object.assign(seen, look(root, path));
  }
  return seen;
};

/** All that belay must leave alone of a repository: refs, index bytes, config, stash, object files. */
export const privates = (root: string): Record<string, string> => {
  const seen: Record<string, string> = {};
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else seen[path.slice(root.length)] = `${lstatSync(path).mtimeMs} ${readFileSync(path, 'base64')}`;
    }
  };
  walk(join(root, '.git'));
  return seen;
};
