import { randomUUID } from 'node:crypto';
import { RunBlockedError, UsageError } from '../errors.ts';
import { createRedactor, nameSome, systemClock } from '../events/index.ts';
import {
  lockWorkspace,
  openThread,
  type RollbackNote,
  readTimeline,
  resumeThread,
  type Timeline,
  treesOf,
} from '../thread/index.ts';
import {
  isDraft,
  type Location,
  locateRepository,
  openWorkspace,
  type TreeId,
  type Workspace,
} from '../workspace/index.ts';
import { findPlace, type Place, type PlacedTree } from './place-in-thread.ts';
import { replacedFolder } from './replaced-folder.ts';
import { describeMoved } from './tell-moved-aside.ts';

export interface RollbackRequest {
  stateDir: string;
  threadId: string;
  /** `undo`: where the thread was before its last rollback. */
  to: Place | 'undo';
  /** Goes on where the workspace holds changes that no turn made; they are kept as a snapshot either way. */
  force: boolean;
  /** Of belay. */
  version: string;
  /** The harness's PATH. */
  path: string;
}

export interface RolledBack {
  workspace: string;
  /** 0: before the first turn. */
  turn: number;
  tree: TreeId;
  /** The workspace as it was. */
  before: TreeId;
  /** How many files changed. */
  files: number;
  /** A sentence for each repository that a killed run may have left, or a user made since: where it is kept. */
  told: readonly string[];
}

/**
 * Puts the workspace and the thread to a place of its timeline. The record of it is on disk before the first file changes; nothing is
 * taken out of the log, so that a rollback can be taken back. Throws UsageError, and RunBlockedError `busy` while a run is using either.
 */
export async function rollbackThread(request: RollbackRequest): Promise<RolledBack> {
  const { stateDir, threadId, version, path } = request;
  const { meta, dir } = await openThread(stateDir, threadId);
  const redactor = createRedactor([]);
  const thread = await resumeThread({ stateDir, id: threadId, version, redactor, clock: systemClock });
  const closers: (() => Promise<unknown>)[] = [() => thread.close()];
  try {
    const location = await locateRepository({ dir: meta.workspace, path });
    closers.push(await lockFolder(location, { stateDir, owner: threadId }));
    const timeline = await readTimeline(await openThread(stateDir, threadId));
    const found = timeline.isCutOff ? { users: [], aside: replacedFolder(dir, `rollback-${randomUUID()}`) } : 'kept';
    const workspace = await openWorkspace({ dir: meta.workspace, storeDir: dir, resumed: true, location, found });
    closers.push(() => workspace.close());
    const before = await workspace.snapshot();
    const base = workspace.base.tree;
    const target = request.to === 'undo' ? findUndone(timeline, threadId) : findPlace(request.to, { timeline, base });
    const killed = await findKilled(workspace, timeline, { now: before, target });
    if (!request.force && killed === null && before !== base && !treesOf(timeline).has(before)) {
      const changes = await workspace.changedPaths(findPlace({ kind: 'final' }, { timeline, base }).tree, before);
      throw new UsageError(
        `the workspace holds changes that no turn of the thread made (${nameSome(
          changes.map((change) => change.path),
          MOST_LISTED,
        )}); --force puts it back all the same, and --undo brings them back`,
        { code: 'workspace_changed' },
      );
    }
    await workspace.checkRestore(target.tree);
    const from = startOf(request.to, killed) ?? { turn: timeline.position, tree: before };
    await thread.appendNote({
      ...{ kind: 'rollback', toTurn: target.turn, fromTurn: from.turn, lastTurn: timeline.lastTurn },
      ...{ tree: target.tree, before: from.tree },
    });
    const files = await workspace.restore(target.tree);
    const told = describeMoved(workspace.takeMoved());
    return { workspace: meta.workspace, ...target, before: from.tree, files, told };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function lockFolder(
  { dir, repository }: Location,
  options: { stateDir: string; owner: string },
): Promise<() => Promise<void>> {
  const lock = await lockWorkspace({ ...options, workspace: repository?.root ?? dir });
  if (lock.kind === 'acquired') return lock.release;
  throw new RunBlockedError('busy', `a run holds this workspace (${lock.by.owner}, process ${lock.by.pid})`);
}

function findUndone({ rollbacks }: Timeline, id: string): { turn: number; tree: TreeId } {
  const last = rollbacks.at(-1);
  if (last === undefined) throw new UsageError(`thread ${id} was never rolled back`, { code: 'no_turn' });
  return { turn: last.fromTurn, tree: last.before };
}

/**
 * The last rollback, where it was killed before all files were written: each file is as it was before, or as it was to be. All of it is
 * in those two snapshots, so that nothing of the state between them has to be kept.
 */
async function findKilled(
  workspace: Pick<Workspace, 'changedPaths'>,
  { rollbacks, lastTurn }: Timeline,
  { now, target }: { now: TreeId; target: PlacedTree },
): Promise<RollbackNote | null> {
  const last = rollbacks.at(-1);
  if (last === undefined || last.lastTurn !== lastTurn) return null;
  // All is done: the same rollback given again, for whoever saw it killed, or another one.
  if (now === last.tree) return target.turn === last.toTurn && target.tree === last.tree ? last : null;
  const missing = await workspace.changedPaths(now, last.tree);
  const done = new Set((await workspace.changedPaths(last.before, now)).map((change) => change.path));
  // A file that is not there (`add`) was taken away for the next one to be put in its place.
  return missing.some(({ kind, path }) => kind !== 'add' && done.has(path) && !isDraft(path)) ? null : last;
}

/** Where a rollback that takes the place of a killed one begins, for `--undo`: where that one began, or where it was to lead. */
function startOf(to: RollbackRequest['to'], killed: RollbackNote | null): { turn: number; tree: TreeId } | null {
  if (killed === null) return null;
  return to === 'undo' ? { turn: killed.toTurn, tree: killed.tree } : { turn: killed.fromTurn, tree: killed.before };
}

const MOST_LISTED = 5;
