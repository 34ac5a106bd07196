import { repositoriesOf, type StartFacts } from './start-facts.ts';
import { repositoriesIn } from './unrecorded.ts';

/**
 * Whose the repositories are that are there when a workspace is opened again, and were not at its start. `recorded`: a user's, from now on
 * as if they had been there at the start. `kept`: left alone as long as this is open. `aside`: they may be a user's as well as the agent's,
 * and are moved into that folder where they have to go.
 */
export type FoundRepositories = 'recorded' | 'kept' | { aside: string };

export interface TakenFound {
  /** The facts given, where nothing came to them. */
  start: StartFacts;
  users: ReadonlySet<string>;
  doubtful: { folders: ReadonlySet<string>; aside: string } | null;
}

export interface FoundSite {
  root: string;
  earlier: StartFacts;
  /** As they are now: folders with a repository of their own, and those of the tree. */
  nested: readonly string[];
  folders: Iterable<string>;
}

export const nothingFound = (start: StartFacts): TakenFound => ({ start, users: new Set(), doubtful: null });

export const takeFound = (
  { root, earlier, nested, folders }: FoundSite,
  found: FoundRepositories | undefined,
): TakenFound => {
  const untaken = nothingFound(earlier);
  if (found === undefined) return untaken;
  const before = repositoriesOf(earlier);
  const isNew = (folder: string): boolean => !before.has(folder);
  const inNested = nested.filter(isNew);
  const inTree = earlier.repositories === null ? [] : repositoriesIn(root, [...folders].filter(isNew));
  if (inNested.length + inTree.length === 0) return untaken;
  const all = new Set([...inNested, ...inTree]);
  if (typeof found === 'object') return { ...untaken, doubtful: { folders: all, aside: found.aside } };
  const repositories = earlier.repositories === null ? null : [...earlier.repositories, ...inTree];
  return { start: { ...earlier, nested: [...earlier.nested, ...inNested], repositories }, users: all, doubtful: null };
};
