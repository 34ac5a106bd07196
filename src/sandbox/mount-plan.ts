import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../errors.ts';
import { isWithin } from './is-within.ts';
import type { Mount } from './sandbox.ts';
import { statOrNull } from './stat-or-null.ts';

/** One mount as bubblewrap is to make it, in order. */
export type MountStep =
  | { kind: 'write' | 'read'; from: string; to: string }
  | { kind: 'hidden'; to: string; shape: 'file' | 'folder' };

export type MountPlan = { kind: 'planned'; steps: readonly MountStep[] } | { kind: 'refused'; reason: string };

/** What a place inside the fence shows now. */
interface Placed {
  to: string;
  from: string;
  access: Mount['access'];
}

/** A mount here would replace what the fence itself stands on. */
const RESERVED = [
  '/',
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/proc',
  '/run',
  '/sbin',
  '/sys',
  '/usr',
];

/**
 * Turns the port's mounts into steps that never make bubblewrap create a mount point inside the workspace (CVE-2026-87766: it would
 * follow a link that the agent planted) and that pin every folder above a nested mount, so that it cannot be moved out of the way.
 */
export function planMounts(mounts: readonly Mount[]): MountPlan {
  const steps: MountStep[] = [];
  let placed: Placed[] = [];
  const place = (step: MountStep, next: Placed): void => {
    placed = [...placed.filter((other) => !isWithin(next.to, other.to)), next];
    steps.push(step);
  };
  for (const mount of mounts) {
    const problem = problemOf(mount);
    if (problem !== null) return { kind: 'refused', reason: problem };
    const source = lstatSync(mount.from);
    const shape = source.isDirectory() ? 'folder' : 'file';
    const cover = innermost(placed, mount.to);
    if (cover !== undefined) {
      const walk = walkTo(cover, mount.to, shape);
      if (walk.kind === 'refused') return walk;
      if (cover.access === 'write') {
        for (const pin of walk.ancestors) place({ kind: 'write', ...pin }, { ...pin, access: 'write' });
      }
    }
    const { from, to, access } = mount;
    place(access === 'hidden' ? { kind: 'hidden', to, shape } : { kind: access, from, to }, { from, to, access });
  }
  return { kind: 'planned', steps };
}

function problemOf({ from, to, access }: Mount): string | null {
  for (const place of [from, to]) {
    if (!path.isAbsolute(place) || path.normalize(place) !== place || (place !== '/' && place.endsWith('/'))) {
      return `${place} cannot be mounted: it is not a plain absolute path.`;
    }
  }
  if (access === 'write' && RESERVED.includes(to))
    return `${to} cannot be writable inside the sandbox: choose a folder of its own for the workspace.`;
  try {
    if (realpathSync(from) !== from) return `${from} cannot be mounted: a symbolic link is on the way.`;
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    return `${from} cannot be mounted: ${code === 'ENOENT' ? 'it does not exist' : code}.`;
  }
  return null;
}

function innermost(placed: readonly Placed[], to: string): Placed | undefined {
  return placed
    .filter((other) => isWithin(other.to, to))
    .reduce<Placed | undefined>(
      (best, other) => (best === undefined || other.to.length > best.to.length ? other : best),
      undefined,
    );
}

type Walk =
  | { kind: 'walked'; ancestors: readonly { from: string; to: string }[] }
  | { kind: 'refused'; reason: string };

/** Follows the way from the covering mount down to the mount point on the host, without following links. */
function walkTo(cover: Placed, to: string, shape: 'file' | 'folder'): Walk {
  const names = path
    .relative(cover.to, to)
    .split('/')
    .filter((name) => name !== '');
  if (names.length > 0 && cover.access === 'hidden')
    return { kind: 'refused', reason: `${to} cannot be mounted: ${cover.to} around it is hidden.` };
  const ancestors: { from: string; to: string }[] = [];
  let from = cover.from;
  let at = cover.to;
  for (const [index, name] of names.entries()) {
    from = path.join(from, name);
    at = path.join(at, name);
    const stat = statOrNull(from);
    if (stat === null) return { kind: 'refused', reason: `${to} cannot be mounted: ${from} does not exist.` };
    if (stat.isSymbolicLink())
      return { kind: 'refused', reason: `${to} cannot be mounted: ${from} is a symbolic link.` };
    const last = index === names.length - 1;
    if (stat.isDirectory() !== (last ? shape === 'folder' : true)) {
      return {
        kind: 'refused',
        reason: `${to} cannot be mounted: ${from} is ${stat.isDirectory() ? 'a folder' : 'not a folder'}.`,
      };
    }
    if (!last) ancestors.push({ from, to: at });
  }
  return { kind: 'walked', ancestors };
}
