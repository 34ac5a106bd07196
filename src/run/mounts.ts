import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, UsageError } from '../errors.ts';
import { createMatcher, type Policy } from '../policy/index.ts';
import { isWithin, type Mount } from '../sandbox/index.ts';
import type { Cover } from '../workspace/index.ts';
import { readablePath } from './homes.ts';

/** Most mounts of one command: what bubblewrap takes for them grows with their square (400: some 2 s on a loaded machine). Protected files beyond it are still judged on the final tree; hidden ones have to fit. */
const MOST_MOUNTS = 400;

export interface MountPlan {
  /** Real path of the repository's root and of the writable folder. */
  root: string;
  dir: string;
  policy: Policy;
  /** Folders outside `root` that git needs to read (a linked worktree's). */
  gitDirs: readonly string[];
  /** Repositories inside the root that are not part of it, relative to the root. */
  foreign: readonly string[];
  /** Further absolute paths that the agent may not read (holdouts). */
  alsoHidden: readonly string[];
  /** Absolute paths of files that the run itself writes: read-only for everybody else. */
  ownFiles: readonly string[];
  /** What the agent, and only it, is shown in place of git's own files (credentials, contents of hidden paths). */
  gitCovers: Promise<readonly Cover[]>;
}

interface Found {
  protected: string[];
  hidden: string[];
  /** `.git` folders of repositories inside this one: their history and credentials are no part of the task. */
  nested: string[];
}

/**
 * Existing paths that the policy protects, freezes or hides, outermost first: a folder that matches is not looked into.
 * `.git` folders are not entered.
 */
function findPaths(plan: MountPlan): Found {
  const protects = createMatcher([...plan.policy.workspace.protect, ...plan.policy.verify.cleanRoom.freeze]);
  const hides = createMatcher(plan.policy.workspace.hide);
  const found: Found = { protected: [], hidden: [], nested: [] };
  const pending = [''];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const entry of readFolder(join(plan.root, path))) {
      const child = path === '' ? entry.name : `${path}/${entry.name}`;
      const isFolder = entry.isDirectory();
      if (entry.name === '.git') {
        if (isFolder && path !== '') found.nested.push(child);
        continue;
      }
      if (hides(child) !== null || (isFolder && hides(`${child}/x`) !== null)) found.hidden.push(child);
      else if (
        protects(child) !== null ||
        (isFolder && protects(`${child}/x`) !== null && protects(`${child}/x/y`) !== null)
      )
        found.protected.push(child);
      else if (isFolder) pending.push(child);
    }
  }
  return found;
}

function readFolder(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'EACCES', 'ENOENT')) return [];
    throw error;
  }
}

function isSymlink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

function readableMounts(policy: Policy): Mount[] {
  return policy.sandbox.readable.map((entry): Mount => {
    const path = readablePath(entry);
    try {
      return { from: realpathSync(path), to: path, access: 'read' };
    } catch (error) {
      throw new UsageError(`sandbox.readable: ${entry} does not exist`, { cause: error });
    }
  });
}

/**
 * What an agent's command sees: the repository, writable only where the policy lets it, with protected and hidden paths covered. What is
 * there is looked for at once; git's part may take longer, and is waited for by the answer.
 */
export function planAgentMounts(plan: MountPlan): () => Promise<readonly Mount[]> {
  const writable = plan.policy.sandbox.mode === 'read-only' ? 'read' : 'write';
  const read = (path: string): Mount => ({ from: path, to: path, access: 'read' });
  const found = plan.policy.sandbox.mode === 'off' ? { protected: [], hidden: [], nested: [] } : findPaths(plan);
  const hide = (path: string): Mount => ({ from: path, to: path, access: 'hidden' });
  const hidden = [...found.hidden.map((path) => join(plan.root, path)), ...plan.alsoHidden].map(hide);
  const nested = found.nested.map((path) => hide(join(plan.root, path)));
  if (hidden.length + nested.length > MOST_MOUNTS) {
    throw new UsageError(
      `workspace.hide: ${hidden.length} paths match, beside ${nested.length} nested repositories; more than ${MOST_MOUNTS} cannot be hidden: hide their folder`,
    );
  }
  const guarded = [...found.protected, ...plan.foreign].map((path) => read(join(plan.root, path)));
  const own = plan.ownFiles.filter((path) => existsPlainly(path)).map(read);
  const covers = [...own, ...hidden, ...(writable === 'write' ? guarded : [])].filter(
    (mount) => !isSymlink(mount.from),
  );
  const planned = plan.gitCovers.then((gitCovers) => [
    ...readableMounts(plan.policy),
    ...(plan.dir === plan.root ? [] : [read(plan.root)]),
    { from: plan.dir, to: plan.dir, access: writable } satisfies Mount,
    ...gitMounts(plan),
    ...gitCovers.map(
      ({ from, to }): Mount => (from === null ? { from: to, to, access: 'hidden' } : { from, to, access: 'read' }),
    ),
    ...covers.filter((mount) => isWithin(plan.root, mount.from)).slice(0, MOST_MOUNTS - nested.length),
    ...nested,
  ]);
  // A failure is told by the first command, which asks for them.
  planned.catch(() => undefined);
  return () => planned;
}

/** What a check in the workspace sees: hidden paths too (checks and setup may need them). */
export function planCheckMounts(plan: MountPlan): Mount[] {
  return [
    ...readableMounts(plan.policy),
    ...(plan.dir === plan.root ? [] : [{ from: plan.root, to: plan.root, access: 'read' } satisfies Mount]),
    { from: plan.dir, to: plan.dir, access: 'write' },
    ...gitMounts(plan),
  ];
}

function gitMounts(plan: MountPlan): Mount[] {
  const git = join(plan.root, '.git');
  const own: Mount[] = existsPlainly(git) ? [{ from: git, to: git, access: 'read' }] : [];
  return [
    ...own,
    ...plan.gitDirs
      .filter((path) => !isWithin(plan.root, path))
      .map((path): Mount => ({ from: path, to: path, access: 'read' })),
  ];
}

function existsPlainly(path: string): boolean {
  try {
    return !lstatSync(path).isSymbolicLink();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
