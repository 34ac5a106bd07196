import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import * as path from 'node:path';
import { codeOf } from '../errors.ts';
import type { ToolPorts } from './tool.ts';

export type PathPorts = Pick<ToolPorts, 'root' | 'workspace' | 'access'>;

/** `remove` names the entry itself: a link at the end is not followed. */
export type PathUse = 'read' | 'write' | 'remove';

export interface SafePath {
  /** Real path, links resolved; every component was looked at. */
  absolute: string;
  /** The same, relative to the root, with `/`. */
  relative: string;
  /** null: nothing there yet. */
  stat: Stats | null;
}

/** `denied`: the policy says no (a denial), as opposed to a path that makes no sense. */
export type PathResolution =
  | { kind: 'resolved'; path: SafePath }
  | { kind: 'refused'; reason: string; denied: boolean };

const MAX_LINKS = 40;

/** Code points that some file systems ignore in names, so that `.g<ZWNJ>it` is `.git` there. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

function isGitFolderName(name: string): boolean {
  const plain = name
    .replace(IGNORED, '')
    .replace(/[. ]+$/u, '')
    .toLowerCase();
  return plain === '.git' || plain === 'git~1';
}

function componentsBelow(root: string, absolute: string): string[] | null {
  const relative = path.relative(root, absolute);
  if (relative === '') return [];
  if (relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)) return null;
  return relative.split(path.sep);
}

export function isBelow(folder: string, absolute: string): boolean {
  return (componentsBelow(folder, absolute)?.length ?? 0) > 0;
}

type Walk = { kind: 'found'; absolute: string; stat: Stats | null } | { kind: 'refused'; reason: string };

/** Walks from the root down, a component at a time, so that no link is followed by the system on our behalf. */
async function walk(root: string, start: readonly string[], followLast: boolean): Promise<Walk> {
  const pending = [...start];
  let current = root;
  let stat = await lstat(root);
  let links = 0;
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (isGitFolderName(name) || pending.some(isGitFolderName)) {
      return { kind: 'refused', reason: 'the git folder is out of reach of this tool' };
    }
    if (!stat.isDirectory()) return { kind: 'refused', reason: `${path.relative(root, current)} is not a folder` };
    const next = path.join(current, name);
    let nextStat: Stats;
    try {
      nextStat = await lstat(next);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return { kind: 'found', absolute: path.join(next, ...pending), stat: null };
      if (code === null) throw error;
      return { kind: 'refused', reason: `cannot be reached (${code})` };
    }
    if (nextStat.isSymbolicLink() && (followLast || pending.length > 0)) {
      links += 1;
      if (links > MAX_LINKS) return { kind: 'refused', reason: 'its symbolic links go round in a circle' };
      const target = componentsBelow(root, path.resolve(current, await readlink(next)));
      if (target === null) return { kind: 'refused', reason: 'a symbolic link in it leads out of the repository' };
      pending.unshift(...target);
      current = root;
      stat = await lstat(root);
      continue;
    }
    current = next;
    stat = nextStat;
  }
  return { kind: 'found', absolute: current, stat };
}

function denialOf(ports: PathPorts, relative: string, use: PathUse): string | null {
  if (relative === '') return null;
  const access = ports.access(relative);
  if (access.hidden) return 'is hidden by the policy (workspace.hide)';
  if (use !== 'read' && access.protectedBy !== null) return `is protected by the policy (${access.protectedBy})`;
  return null;
}

/**
 * Resolves a path that the model wrote: relative to the workspace, or absolute and inside the root. Reads may go anywhere in
 * the root, writes only below the workspace; links may lead from inside to inside; the git folder is out of bounds.
 */
export async function resolvePath(ports: PathPorts, written: string, use: PathUse): Promise<PathResolution> {
  const refuse = (reason: string, denied = false): PathResolution => ({
    kind: 'refused',
    reason: `${written}: ${reason}`,
    denied,
  });
  if (written === '') return { kind: 'refused', reason: 'the path is empty', denied: false };
  if (written.includes('\0')) return { kind: 'refused', reason: 'the path contains a NUL byte', denied: false };
  const components = componentsBelow(ports.root, path.resolve(ports.workspace, written));
  if (components === null) return refuse('is outside of the repository');

  const walked = await walk(ports.root, components, use !== 'remove');
  if (walked.kind === 'refused') return refuse(walked.reason);
  const relative = (componentsBelow(ports.root, walked.absolute) ?? []).join('/');
  const denial = denialOf(ports, components.join('/'), use) ?? denialOf(ports, relative, use);
  if (denial !== null) return refuse(denial, true);
  if (use !== 'read' && !isBelow(ports.workspace, walked.absolute)) {
    return refuse('is outside of the workspace, the only folder that may be written');
  }
  return { kind: 'resolved', path: { absolute: walked.absolute, relative, stat: walked.stat } };
}

/** How the model would write the path: relative to the workspace. */
export function shownPath(ports: Pick<ToolPorts, 'root' | 'workspace'>, relativeToRoot: string): string {
  const shown = path.relative(ports.workspace, path.join(ports.root, relativeToRoot));
  return shown === '' ? '.' : shown.split(path.sep).join('/');
}
