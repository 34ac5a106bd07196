import { UsageError } from '../errors.ts';
import { type Emit, nameSome } from '../events/index.ts';
import type { Thread, ThreadPast } from '../thread/index.ts';
import type { TreeId, Workspace } from '../workspace/index.ts';
import { type TakenSite, tellTaken } from './tell-taken.ts';

/** What earlier runs of the thread made of the workspace. */
export interface EarlierWork {
  readonly tree: TreeId;
  /** Whether the workspace is without it: it was put back, or never had it. */
  readonly isAway: boolean;
  /** Puts the workspace back to where the thread began, for what has to run there. */
  putAway(context: TakenSite): Promise<void>;
  /** Brings the work into the workspace, where it is away. */
  bringBack(emit: Emit): Promise<void>;
}

export interface EarlierSite {
  thread: Pick<Thread, 'appendNote'>;
  workspace: Workspace;
  past: ThreadPast;
  /** The commit that the user's HEAD names now. */
  head: string | null;
}

/**
 * Finds the work of earlier runs: in the snapshot that one put away at its end, or in the workspace as a killed one left it. Throws
 * UsageError where going on would take somebody else's changes for the agent's, or lose them.
 */
export async function findEarlierWork({ thread, workspace, past, head }: EarlierSite): Promise<EarlierWork> {
  const base = workspace.base.tree;
  if (workspace.base.commit !== null && head !== workspace.base.commit) {
    throw new UsageError(
      `the thread began on commit ${workspace.base.commit}, but HEAD of ${workspace.root} is ${head ?? 'no commit'}: check that commit out first`,
      { code: 'workspace_changed' },
    );
  }
  const now = await workspace.snapshot();
  const place = await placeOf({ workspace, past, now });
  let { isAway } = place;
  const { tree } = place;

  async function put(to: TreeId): Promise<number> {
    await thread.appendNote({ kind: 'work_stashed', tree });
    return (await workspace.snapshot()) === to ? 0 : workspace.restore(to);
  }

  return {
    tree,
    get isAway() {
      return isAway;
    },
    async putAway(context) {
      // It does not come back: whoever made it (setup, a person since) has to be able to find it.
      if (past.turns === 0 && past.stashed === null && !isAway && tree !== base)
        await tellTaken(context, { from: base, to: tree, ...BEFORE });
      await put(base);
      isAway = true;
      await thread.appendNote({ kind: 'work_restored', tree });
    },
    async bringBack(emit) {
      if (!isAway) {
        if (past.stashed !== null || !past.hasWorkedHere) await thread.appendNote({ kind: 'work_back', tree });
        return;
      }
      // Before the first turn there is nothing but what setup left, and that was made anew.
      const files = past.turns === 0 ? 0 : await put(tree);
      await thread.appendNote({ kind: 'work_back', tree });
      isAway = false;
      if (files > 0) await emit({ type: 'workspace.restored', to: past.turns, files });
    },
  };
}

async function placeOf({
  workspace,
  past,
  now,
}: Pick<EarlierSite, 'workspace' | 'past'> & { now: TreeId }): Promise<{ tree: TreeId; isAway: boolean }> {
  const base = workspace.base.tree;
  const { stashed, tree, hasWorkedHere } = past;
  // A thread from another machine has done nothing to this folder yet: what is there is somebody else's.
  if (!hasWorkedHere && now !== base) await refuseChanges(workspace, { from: base, to: now, verb: 'found' });
  if (stashed !== null) {
    const work = stashed.tree ?? base;
    if (stashed.isWhole && now !== base && now !== work)
      await refuseChanges(workspace, { from: base, to: now, verb: 'left' });
    return { tree: work, isAway: now !== work };
  }
  if (past.turns === 0) {
    // Killed before its first turn: what is there is what setup left, or of somebody who was here since.
    if (now !== base && !past.isCutOff && now !== past.leftTree)
      await refuseChanges(workspace, { from: base, to: now, verb: 'left' });
    return { tree: now, isAway: false };
  }
  // A fresh checkout, or somebody who put everything back.
  if (now === base && tree !== null) return { tree, isAway: tree !== base };
  return { tree: now, isAway: false };
}

const BEFORE = {
  name: 'found.patch',
  code: 'changed_before',
  what: 'in the workspace, where the last run ended before its first turn',
} as const;

const MOST_LISTED = 5;

async function refuseChanges(
  { root, changedPaths }: Workspace,
  { from, to, verb }: { from: TreeId; to: TreeId; verb: 'found' | 'left' },
): Promise<never> {
  const paths = (await changedPaths(from, to)).map((change) => change.path);
  throw new UsageError(
    `the workspace ${root} is not as the thread ${verb} it (${nameSome(paths, MOST_LISTED)}): put these changes aside (git stash -u), then resume`,
    { code: 'workspace_changed' },
  );
}
