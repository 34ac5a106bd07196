import { lstat, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../errors.ts';
import type { Mount, SandboxTier } from '../sandbox/index.ts';
import type { LaidTree, TreeId, Workspace } from '../workspace/index.ts';
import { type FoundHoldout, layHoldout } from './holdout.ts';
import { watchJudged } from './judged-files.ts';
import { ownLike } from './own-tree.ts';
import type { Place } from './place.ts';
import { makeRealFolder } from './real-folder.ts';
import { removeTree } from './remove-tree.ts';
import type { RoomOpening, Rooms } from './rooms.ts';

export type RoomSetup = { kind: 'done' } | { kind: 'failed'; reason: string } | { kind: 'cancelled' };

export interface RoomsOptions {
  workspace: Pick<Workspace, 'root' | 'dir' | 'foreign' | 'checkout'>;
  tier: SandboxTier;
  /** A folder of the run's own, on the workspace's file system where that can be (copies are then by reference). */
  scratch: string;
  /**
   * Lays the ignored files as setup left them into a folder that stands for the repository's root; the paths of `freeze` among them
   * only when `frozen` says so, because they are not mounted.
   */
  layCarry(roomRoot: string, what: { frozen: boolean }): Promise<void>;
  /** Paths relative to the root that the agent could not write: mounted, where the tier can and setup does not run again. */
  freeze: readonly string[];
  holdouts: readonly FoundHoldout[];
  /** What checks see beside the tree (toolchains), outer before inner. */
  mounts: readonly Mount[];
  /** Runs the policy's setup in a room whose change touches what setup reads. No hidden file is there yet. */
  runSetup(place: Place, signal: AbortSignal): Promise<RoomSetup>;
}

/**
 * Clean rooms: a tree checked out beside the workspace, plus what setup left, plus hidden files. With a mount namespace a room stands at
 * the workspace's own path, with the repository's `.git` and what submodules hold read-only in it; without one, checks run in the room's folder and see neither.
 */
export function createRooms(options: RoomsOptions): Rooms {
  return {
    async open(tree, how, signal) {
      const folder = await mkdtemp(path.join(options.scratch, 'room-'));
      let isKept = false;
      try {
        const opening = await furnish(folder, tree, { options, rerunSetup: how.rerunSetup, signal });
        isKept = opening.kind === 'open';
        return opening;
      } finally {
        if (!isKept) await removeTree(folder);
      }
    },
  };
}

interface Furnishing {
  options: RoomsOptions;
  rerunSetup: boolean;
  signal: AbortSignal;
}

async function furnish(folder: string, tree: TreeId, furnishing: Furnishing): Promise<RoomOpening> {
  const roomRoot = path.join(folder, 'tree');
  await mkdir(roomRoot);
  const laid = await furnishing.options.workspace.checkout(tree, roomRoot);
  let isKept = false;
  try {
    const opening = await equip({ folder, roomRoot, laid }, furnishing);
    isKept = opening.kind === 'open';
    return opening;
  } finally {
    if (!isKept) await laid.close();
  }
}

async function equip(
  { folder, roomRoot, laid }: { folder: string; roomRoot: string; laid: LaidTree },
  { options, rerunSetup, signal }: Furnishing,
): Promise<RoomOpening> {
  const { workspace } = options;
  if (signal.aborted) return { kind: 'cancelled' };
  const isMounted = options.tier === 'bubblewrap';
  const frozen = isMounted && !rerunSetup ? options.freeze : [];
  await options.layCarry(roomRoot, { frozen: frozen.length === 0 });
  const roomDir = path.relative(workspace.root, workspace.dir);
  await makeRealFolder(roomRoot, roomDir);
  const root = isMounted ? workspace.root : roomRoot;
  const room: Mount = { from: roomRoot, to: root, access: 'write' };
  const mounts = [
    ...options.mounts,
    room,
    ...(isMounted ? await mountInto(roomRoot, workspace.root, ['.git', ...workspace.foreign, ...frozen]) : []),
  ];
  await ownLike(folder, workspace.dir);
  const place: Place = { root, dir: path.join(root, roomDir), mounts, phase: 'clean_room' };
  if (signal.aborted) return { kind: 'cancelled' };
  if (rerunSetup) {
    const setup = await options.runSetup(place, signal);
    if (setup.kind === 'cancelled') return setup;
    if (setup.kind === 'failed') return { kind: 'refused', reason: `setup fails in the clean room: ${setup.reason}` };
    // It runs what the change brings along, and what is delivered is the tree as it was, not as setup would make it.
    const reason = await laid.putBack(await laid.changed());
    if (reason !== null)
      return { kind: 'refused', reason: `what setup changed in the clean room cannot be put back: ${reason}` };
  }
  const layHoldouts = async () => {
    for (const holdout of options.holdouts) await layHoldout(holdout, path.join(roomRoot, roomDir));
    if (options.holdouts.length > 0) await ownLike(folder, workspace.dir);
  };
  // Only now: setup may have network, and the change may decide what it runs.
  await layHoldouts();
  const close = async () => {
    await laid.close();
    await removeTree(folder);
  };
  const judged = await watchJudged({ laid, layHoldouts, roomRoot, roomDir, holdouts: options.holdouts });
  return { kind: 'open', room: { place, ...judged, close } };
}

/** What the room shows of the workspace. Mount points are made first: a mount must never be made through the tree's links. */
async function mountInto(roomRoot: string, root: string, paths: readonly string[]): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const relative of paths) {
    const from = path.join(root, relative);
    const shape = await shapeOf(from);
    if (shape === null) continue;
    if (shape === 'folder') await makeRealFolder(roomRoot, relative);
    else await makeRealFile(roomRoot, relative);
    mounts.push({ from, to: from, access: 'read' });
  }
  return mounts;
}

async function makeRealFile(root: string, relative: string): Promise<void> {
  const parent = await makeRealFolder(root, path.posix.dirname(relative));
  const file = path.join(parent, path.posix.basename(relative));
  await removeTree(file);
  await writeFile(file, '');
}

/** null where there is nothing that can be mounted. */
async function shapeOf(at: string): Promise<'folder' | 'file' | null> {
  try {
    const entry = await lstat(at);
    return entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
