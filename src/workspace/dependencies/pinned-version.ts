/** What a file says of one dependency. */
export interface PinnedVersion {
  version: string;
  /** Where it comes from and its digest, where the file says so: the same version from another place is a change. */
  source?: string;
}

/** By name; a lock file may hold several versions of one. Throws what it likes on a text that it cannot read. */
export type DependencyParser = (text: string) => Map<string, PinnedVersion[]>;

export const addVersion = (found: Map<string, PinnedVersion[]>, name: string, pinned: PinnedVersion): void => {
  const known = found.get(name);
  if (known === undefined) found.set(name, [pinned]);
  else known.push(pinned);
};
