import path from 'node:path';
import { isWithin } from './is-within.ts';
import type { Mount } from './sandbox.ts';

/** One folder of the host with all that is mounted in it: seen as it is, or through a copy. */
export interface Area {
  root: string;
  /** The mounts in it, outer before inner. */
  mounts: readonly Mount[];
}

/** Outermost mounts, each with those inside it. */
export function planAreas(mounts: readonly Mount[]): Area[] {
  const roots = mounts.filter(({ from }) => !mounts.some((other) => other.from !== from && isWithin(other.from, from)));
  return [...new Set(roots.map(({ from }) => from))].map((root) => ({
    root,
    mounts: mounts.filter(({ from }) => isWithin(root, from)),
  }));
}

/**
 * Landlock gives rights to whole hierarchies and cannot leave anything out: what is protected or hidden in a folder needs a copy of the
 * folder that lacks it, or whose changes are not taken back.
 */
export function needsCopy({ root, mounts }: Area): boolean {
  const weakest = mounts.find(({ from }) => from === root)?.access;
  return mounts.some(({ from, access }) => from !== root && access !== weakest);
}

/** What a command may do to a path of the area: what the innermost, last mount says. Nothing below any `.git`. */
export function accessTo({ root, mounts }: Area, below: string): Mount['access'] {
  if (below.split('/').includes('.git')) return 'hidden';
  const at = path.join(root, below);
  return mounts.findLast(({ from }) => isWithin(from, at))?.access ?? 'hidden';
}

/** Folders of the area that a command may write. */
export function writableIn({ mounts }: Area): string[] {
  return mounts.filter(({ access }) => access === 'write').map(({ from }) => from);
}
