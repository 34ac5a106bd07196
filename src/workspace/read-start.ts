import type { IndexFacts } from './index-entries.ts';
import type { Location } from './locate-repository.ts';
import { type StartFacts, unusualModes } from './start-facts.ts';
import type { SnapshotSite } from './take-snapshot.ts';
import { entryChanges } from './tree-diff.ts';
import { repositoriesIn } from './unrecorded.ts';
import type { TreeId } from './workspace.ts';

export interface StartSite {
  location: Location;
  root: string;
  site: SnapshotSite;
  pinned: ReadonlySet<string>;
  index: IndexFacts;
  folders: ReadonlySet<string>;
}

/** The workspace as the run found it. `hollow`: its empty folders. */
export const readStart = async (
  { location, root, site, pinned, index, folders }: StartSite,
  first: { tree: TreeId; nested: readonly string[] },
  hollow: readonly string[],
): Promise<StartFacts> => {
  const { git } = site;
  const head = location.repository?.head ?? null;
  const emptyTree = async (): Promise<TreeId> => (await git.run(['mktree'])).toString('latin1').trim();
  const own = await entryChanges(git, { from: head?.tree ?? (await emptyTree()), to: first.tree });
  const base = {
    commit: head?.commit ?? null,
    dirty: head !== null && head.tree !== first.tree,
    git: location.repository !== null,
    tree: first.tree,
  };
  const modes = unusualModes(
    root,
    own.map((change) => change.path),
  );
  return {
    base,
    nested: first.nested,
    repositories: repositoriesIn(root, folders),
    submodules: index.submodules,
    pinned: [...pinned],
    absent: index.absent,
    emptyFolders: hollow,
    modes,
  };
};
