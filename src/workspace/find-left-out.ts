import type { Git } from './git.ts';
import type { LeftOut } from './left-out.ts';
import type { StartFacts } from './start-facts.ts';

export interface FoundLeftOut {
  /** Paths that a sparse checkout left out at the start, and still does: its user may have widened it since. */
  absent: readonly string[];
  /** null where there is none. */
  leftOut: LeftOut | null;
}

/** `absent`: what the user's index leaves out now. */
export const findLeftOut = async (
  git: Git,
  { root, start, absent }: { root: string; start: StartFacts; absent: readonly string[] },
): Promise<FoundLeftOut> => {
  const now = new Set(absent);
  const paths = start.absent.filter((path) => now.has(path));
  if (paths.length === 0) return { absent: paths, leftOut: null };
  const { createLeftOut } = await import('./left-out.ts');
  return { absent: paths, leftOut: createLeftOut(git, { root, paths, tree: start.base.tree }) };
};
