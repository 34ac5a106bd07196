import { repositoriesOf, type StartFacts } from './start-facts.ts';
import { newIgnored, repositoriesIn } from './unrecorded.ts';

/**
 * Whose the repositories and ignored files are that are there when a workspace is opened again, and were not at its start. `users`: which of
 * them are a user's, from now on as if they had been there at the start. The others may be the agent's as well, and are moved into the folder
 * `aside` where they have to go. `kept`: they are left alone as long as this is open.
 */
export type Found = 'kept' | { users: readonly FoundKind[]; aside: string };

export type FoundKind = 'repositories' | 'ignored';

/** What may be a user's, though it was not there at the start: it is moved into `aside`, never removed. */
export interface Doubtful {
  /** Folders with a repository. */
  folders: ReadonlySet<string>;
  /** Ignored files and folders. */
  ignored: ReadonlySet<string>;
  aside: string;
}

export interface TakenFound {
  /** The facts given, where nothing came to them. */
  start: StartFacts;
  /** Folders of repositories. */
  users: ReadonlySet<string>;
  doubtful: Doubtful | null;
}

export interface FoundSite {
  root: string;
  earlier: StartFacts;
  /** As they are now: folders with a repository of their own, and those of the tree; what is ignored. */
  nested: readonly string[];
  folders: Iterable<string>;
  ignored: readonly string[];
}

export const takeFound = (
  { root, earlier, nested, folders, ignored }: FoundSite,
  found: Found | undefined,
): TakenFound => {
  if (found === undefined) return { start: earlier, users: new Set(), doubtful: null };
  const before = repositoriesOf(earlier);
  const isNew = (folder: string): boolean => !before.has(folder);
  const inNested = nested.filter(isNew);
  const inTree = earlier.repositories === null ? [] : repositoriesIn(root, [...folders].filter(isNew));
  const repositories = new Set([...inNested, ...inTree]);
  const inIgnored = new Set(newIgnored(new Set(earlier.pinned), ignored));
  const areUsers = (kind: FoundKind): boolean => found === 'kept' || found.users.includes(kind);
  const none: ReadonlySet<string> = new Set();
  const doubted = {
    folders: areUsers('repositories') ? none : repositories,
    ignored: areUsers('ignored') ? none : inIgnored,
  };
  let start = earlier;
  if (areUsers('repositories') && repositories.size > 0)
    start = {
      ...start,
      nested: [...start.nested, ...inNested],
      repositories: start.repositories === null ? null : [...start.repositories, ...inTree],
    };
  if (areUsers('ignored') && inIgnored.size > 0) start = { ...start, pinned: [...start.pinned, ...inIgnored] };
  return {
    start,
    users: areUsers('repositories') ? repositories : none,
    doubtful: found === 'kept' ? null : { ...doubted, aside: found.aside },
  };
};
