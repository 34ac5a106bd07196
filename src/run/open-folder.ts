import { mkdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { RunBlockedError, UsageError } from '../errors.ts';
import { createMatcher, literalsOf, type Policy, unsupportedKeys } from '../policy/index.ts';
import { isWithin, probeSandbox, type Sandbox } from '../sandbox/index.ts';
import { lockWorkspace, stateFolder, type Thread, type ThreadPast } from '../thread/index.ts';
import type { Holdouts } from '../verify/index.ts';
import {
  type Cover,
  carryFolder,
  createGitView,
  createKeptCarry,
  type FoundKind,
  gitFolders,
  hasStarted,
  type KeptCarry,
  type Location,
  locateRepository,
  openWorkspace,
  type Workspace,
} from '../workspace/index.ts';
import type { EarlierWork } from './earlier-work.ts';
import { createHomes, type Homes, readablePath } from './homes.ts';
import { type MountPlan, planCheckMounts } from './mounts.ts';
import { policyGlobs } from './policy-globs.ts';
import { realFile } from './real-file.ts';
import { replacedFolder } from './replaced-folder.ts';
import type { RunRequest } from './request.ts';
import type { Session } from './session.ts';

/** What every part of the folder is opened with; `closers` are called in turn, the last first. */
interface OpenSite {
  request: RunRequest;
  thread: Thread;
  closers: (() => Promise<void>)[];
}

interface FolderSite extends OpenSite {
  location: Location;
}

/** One run a repository: a run in a folder of it would take back what another one does beside it. */
async function lockRoot(location: Location, { request, thread, closers }: OpenSite): Promise<void> {
  const stateDir = request.stateDir ?? stateFolder(request.environment);
  const { dir, repository } = location;
  const lock = await lockWorkspace({ stateDir, workspace: repository?.root ?? dir, owner: thread.id });
  if (lock.kind === 'held') {
    throw new RunBlockedError('busy', `another run holds this workspace (${lock.by.owner}, process ${lock.by.pid})`);
  }
  closers.push(() => lock.release());
}

/** The folder under work, found and locked: what is known before its files are read, which is all that the sandbox needs. */
export interface OpenedFolder {
  location: Location;
  /** Without what only the files tell: foreign repositories and holdouts. */
  mounts: MountPlan;
  /** Real paths of all files that the run writes, wherever they lie. */
  ownFiles: readonly string[];
  homes: Homes;
  scratch: string;
  carry: KeptCarry;
}

/** The files of the folder, read. */
export interface OpenedTree {
  workspace: Workspace;
  mounts: MountPlan;
  holdouts: Holdouts;
  /** What earlier runs of the thread made; null in its first. */
  earlier: EarlierWork | null;
}

/** The room of checks is read while git and the sandbox are at work. */
const loadVerify = () => import('../verify/index.ts');

/** Starts git at once: everything else is read while it answers. */
export async function locateFolder({ location, workspace, environment }: RunRequest): Promise<Location> {
  return location ?? locateRepository({ dir: workspace, path: environment['PATH'] ?? '' });
}

export async function openFolder({ request, thread, location, closers }: FolderSite): Promise<OpenedFolder> {
  const { policy, path } = request.policy;
  const unsupported = unsupportedKeys(request.policy)[0];
  if (unsupported !== undefined) throw new UsageError(`${unsupported.key}: ${unsupported.reason}`);
  const scratch = join(thread.dir, 'scratch');
  // What a killed run left.
  if (request.resume !== undefined) await (await loadVerify()).removeTree(scratch);
  await mkdir(scratch, { recursive: true, mode: 0o755 });
  closers.push(async () => (await loadVerify()).removeTree(scratch));
  await lockRoot(location, { request, thread, closers });
  const { dir, repository } = location;
  const root = repository?.root ?? dir;
  const named = [...Object.values(request.files), request.record, ...request.streamFiles].filter(
    (file) => file !== null,
  );
  const ownFiles = await Promise.all(named.map(realFile));
  const mounts: MountPlan = {
    root,
    dir,
    policy: {
      ...policy,
      workspace: {
        ...policy.workspace,
        protect: [...policy.workspace.protect, ...(path === null ? [] : await policyGlobs(path, root))],
      },
    },
    gitDirs: gitFolders(location),
    foreign: [],
    alsoHidden: [],
    gitCovers: Promise.resolve([]),
    ownFiles: ownFiles.filter((file) => isWithin(root, file)),
  };
  // Not with what goes at the end: a killed run's is what its successor puts back.
  const carry = createKeptCarry({ root, folder: carryFolder(thread.dir) });
  return { location, mounts, ownFiles, homes: await createHomes(scratch, policy.sandbox.readable), scratch, carry };
}

interface TreeSite extends OpenSite {
  past: ThreadPast | null;
  interrupt: AbortSignal;
  runId: string;
}

export async function openTree(
  opened: OpenedFolder,
  { request, thread, closers, past, interrupt, runId }: TreeSite,
): Promise<OpenedTree> {
  const { location, ownFiles, mounts } = opened;
  const storeDir = thread.dir;
  const resumed = past !== null && (await hasStarted(storeDir));
  const found = { users: foundOfUser(past, request), aside: replacedFolder(thread.dir, runId) };
  const place = { dir: request.workspace, storeDir, location };
  const workspace = await openWorkspace({ ...place, leaveOut: ownFiles, resumed, found, stop: interrupt });
  closers.push(() => workspace.close());
  // Only now: the first request waits for the tree, and only the first command for this.
  const gitCovers = coverGit(request, opened, { closers, interrupt });
  const head = location.repository?.head?.commit ?? null;
  const earlier =
    past !== null && resumed
      ? await (await import('./earlier-work.ts')).findEarlierWork({ thread, workspace, past, head })
      : null;
  const { policy, path } = request.policy;
  const policyDir = path === null ? workspace.dir : dirname(path);
  const holdouts = await (await loadVerify()).findHoldouts(policy.verify.holdout, { policyDir, root: workspace.root });
  await refuseTrackedHoldouts(workspace, holdouts);
  await refuseReadableHoldouts(policy, holdouts);
  return {
    workspace,
    holdouts,
    earlier,
    mounts: { ...mounts, foreign: workspace.foreign, alsoHidden: holdouts.insideWorkspace, gitCovers },
  };
}

/** Of which the thread's runs left none of theirs in the workspace: it was taken away, or (repositories, but for those of setup) was judged. */
function foundOfUser(past: ThreadPast | null, { policy: { policy } }: RunRequest): readonly FoundKind[] {
  const all = ['repositories', 'ignored'] as const;
  if (past === null || !past.hasWorkedHere) return all;
  if (past.isCutOff) return [];
  const last = past.runs.findLast(({ outcome }) => outcome !== null)?.outcome;
  if (last === 'verified' || last === 'unchecked') return policy.setup.length === 0 ? ['repositories'] : [];
  // The policy may be another one now.
  return !past.hasKept && policy.workspace.onFailure === 'restore' ? all : [];
}

/**
 * A check and a setup command see git's files as they are; without a fence nothing is covered. Goes on while the model is asked: the
 * first command waits for it.
 */
function coverGit(
  { kind }: RunRequest,
  { location, mounts, scratch }: OpenedFolder,
  { closers, interrupt }: { closers: (() => Promise<void>)[]; interrupt: AbortSignal },
): Promise<readonly Cover[]> {
  const { sandbox, workspace } = mounts.policy;
  if (kind === 'verify' || sandbox.mode === 'off' || location.repository === null) return Promise.resolve([]);
  const hides = createMatcher(workspace.hide);
  const over = new AbortController();
  const covers = createGitView({
    repository: location.repository,
    folder: join(scratch, 'git-view'),
    hides: (file) => hides(file) !== null,
    literals: literalsOf(workspace.hide),
    signal: AbortSignal.any([over.signal, interrupt]),
  });
  closers.push(async () => {
    over.abort();
    await Promise.allSettled([covers]);
  });
  // A failure is told by the first command, which waits for this.
  covers.catch(() => undefined);
  return covers;
}

/** What git tracks, an agent can read from its objects, however well the file itself is hidden. */
async function refuseTrackedHoldouts({ root, base, list }: Workspace, { insideWorkspace }: Holdouts): Promise<void> {
  if (insideWorkspace.length === 0 || base.commit === null) return;
  const tracked = await list(base.commit);
  for (const path of insideWorkspace) {
    const below = relative(root, path).split(sep).join('/');
    const found = tracked.find((one) => one === below || one.startsWith(`${below}/`));
    if (found !== undefined) {
      throw new UsageError(
        `verify.holdout: ${found} is tracked by git, where the agent can read it; keep hidden files out of the repository`,
        {
          code: 'holdout_tracked',
        },
      );
    }
  }
}

/** What `sandbox.readable` names, the agent reads. */
async function refuseReadableHoldouts({ sandbox }: Policy, { overlays }: Holdouts): Promise<void> {
  for (const entry of overlays.length === 0 ? [] : sandbox.readable) {
    const folder = await realFile(join(readablePath(entry), 'x')).then(dirname);
    const shown = overlays.find(({ from }) => isWithin(folder, from) || isWithin(from, folder));
    if (shown !== undefined)
      throw new UsageError(
        `verify.holdout: the agent could read ${shown.from}, because sandbox.readable names ${entry}; keep hidden files elsewhere`,
        { code: 'holdout_readable' },
      );
  }
}

/** Whether any command of the run is to have more than its own fence. */
function reachesOut({ sandbox, setup, services, verify }: Policy): boolean {
  const networks = [sandbox.network, ...[...setup, ...verify.checks].map(({ network }) => network)];
  return networks.some((network) => network?.mode === 'allow') || sandbox.services.length + services.length > 0;
}

export async function openSandbox({
  request,
  session,
  opened,
  closers,
}: {
  request: RunRequest;
  session: Session;
  opened: OpenedFolder;
  closers: (() => Promise<void>)[];
}): Promise<Sandbox> {
  const probed = await probeSandbox({
    policy: request.policy.policy.sandbox,
    mounts: planCheckMounts(opened.mounts),
    workdir: opened.mounts.dir,
    home: opened.homes.setup,
    env: request.environment,
    reachesOut: reachesOut(request.policy.policy),
    signal: session.interrupt,
  });
  if (probed.kind === 'unavailable') throw new RunBlockedError('sandbox_unavailable', probed.reason);
  closers.push(() => probed.sandbox.close());
  return probed.sandbox;
}
