import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { RunBlockedError, UsageError } from '../errors.ts';
import { type Redactor, systemClock } from '../events/index.ts';
import {
  createModel,
  createRecordingModel,
  createReplayModel,
  loadModelKeys,
  type Model,
  type ModelKeys,
} from '../model/index.ts';
import { unsupportedKeys } from '../policy/index.ts';
import { probeSandbox, type Sandbox } from '../sandbox/index.ts';
import { createThread, lockWorkspace, stateFolder, type Thread } from '../thread/index.ts';
import { findHoldouts, type Holdouts, removeTree } from '../verify/index.ts';
import { type Location, locateRepository, openWorkspace, type Workspace } from '../workspace/index.ts';
import { refuseKeyInEnvironment } from './environment.ts';
import { createHomes } from './homes.ts';
import { type MountPlan, planCheckMounts } from './mounts.ts';
import type { RunRequest } from './request.ts';
import type { Session } from './session.ts';

const NO_KEYS: ModelKeys = { apiKey: null, headers: {}, secrets: [] };

export async function loadKeys({
  policy: { policy, path },
  replay,
  environment,
  workspace,
}: RunRequest): Promise<ModelKeys> {
  if (policy.model === null && replay === null)
    throw new UsageError(
      'the policy names no model: give one in `model`, by --model PROVIDER/NAME, or a cassette by --replay',
    );
  if (policy.model === null || replay !== null) return NO_KEYS;
  refuseKeyInEnvironment(policy, policy.model.apiKeyEnv === null ? [] : [policy.model.apiKeyEnv]);
  return loadModelKeys(policy.model, { env: environment, folder: path === null ? workspace : dirname(path) });
}

export async function openThread(
  request: RunRequest,
  redactor: Redactor,
  closers: (() => Promise<void>)[],
): Promise<Thread> {
  const stateDir = request.stateDir ?? stateFolder(request.environment);
  const thread = await createThread({
    stateDir,
    workspace: request.workspace,
    goal: request.goal,
    ephemeral: request.ephemeral,
    redactor,
    clock: systemClock,
  });
  closers.push(() => thread.close());
  return thread;
}

export async function openModel({
  request,
  session,
  keys,
  redactor,
}: {
  request: RunRequest;
  session: Session;
  keys: ModelKeys;
  redactor: Redactor;
}): Promise<Model> {
  const { policy } = request.policy;
  const needsPrice = policy.limits.costIsExplicit && request.kind === 'agent';
  const plain = await (request.replay !== null || policy.model === null
    ? createReplayModel({
        cassette: request.replay ?? [],
        model: policy.model,
        needsPrice: needsPrice && policy.model !== null,
        onDrift: (drift) =>
          request.onDrift?.({ turn: drift.index + 1, expected: drift.expected, actual: drift.actual }),
      })
    : createModel({ model: policy.model, keys, env: request.environment, workspace: request.workspace, needsPrice }));
  if (request.record === null) return plain;
  return createRecordingModel(plain, {
    path: request.record,
    redact: redactor.redact,
    onError: (error) =>
      session.emit({
        type: 'error',
        code: 'record',
        message: `the cassette is not whole: ${error instanceof Error ? error.message : String(error)}`,
      }),
  });
}

/** One run a repository: a run in a folder of it would take back what another one does beside it. */
async function lockRoot(
  location: Location,
  { request, thread, closers }: { request: RunRequest; thread: Thread; closers: (() => Promise<void>)[] },
): Promise<void> {
  const stateDir = request.stateDir ?? stateFolder(request.environment);
  const { dir, repository } = location;
  const lock = await lockWorkspace({ stateDir, workspace: repository?.root ?? dir, owner: thread.id });
  if (lock.kind === 'held') {
    throw new RunBlockedError('busy', `another run holds this workspace (${lock.by.owner}, process ${lock.by.pid})`);
  }
  closers.push(() => lock.release());
}

/** Real absolute paths of files that may not exist yet. */
async function realFiles(files: readonly (string | null)[]): Promise<string[]> {
  const named = files.filter((file) => file !== null);
  return Promise.all(named.map(async (file) => join(await realpath(dirname(file)), basename(file))));
}

const isBelow = (root: string, path: string) => path.startsWith(root + sep);

/** The folder under work with all that goes with it. */
export interface OpenedFolder {
  workspace: Workspace;
  mounts: MountPlan;
  holdouts: Holdouts;
  homes: Awaited<ReturnType<typeof createHomes>>;
  scratch: string;
}

export async function openFolder(
  request: RunRequest,
  thread: Thread,
  closers: (() => Promise<void>)[],
): Promise<OpenedFolder> {
  const { policy, path } = request.policy;
  const unsupported = unsupportedKeys(request.policy)[0];
  if (unsupported !== undefined) throw new UsageError(`${unsupported.key}: ${unsupported.reason}`);
  const scratch = join(thread.dir, 'scratch');
  await mkdir(scratch, { recursive: true, mode: 0o755 });
  closers.push(() => removeTree(scratch));
  const location = await locateRepository({ dir: request.workspace, path: request.environment['PATH'] ?? '' });
  await lockRoot(location, { request, thread, closers });
  const ownFiles = await realFiles([...Object.values(request.files), request.record, ...request.streamFiles]);
  const workspace = await openWorkspace({ dir: request.workspace, storeDir: thread.dir, leaveOut: ownFiles, location });
  closers.push(() => workspace.close());
  const policyDir = path === null ? workspace.dir : dirname(path);
  const holdouts = await findHoldouts(policy.verify.holdout, { policyDir, root: workspace.root });
  await refuseTrackedHoldouts(workspace, holdouts);
  const mounts: MountPlan = {
    root: workspace.root,
    dir: workspace.dir,
    policy: {
      ...policy,
      workspace: {
        ...policy.workspace,
        protect: [...policy.workspace.protect, ...(path === null ? [] : await insideRoot(path, workspace.root))],
      },
    },
    gitDirs: workspace.gitDirs,
    foreign: workspace.foreign,
    alsoHidden: holdouts.insideWorkspace,
    ownFiles: ownFiles.filter((file) => isBelow(workspace.root, file)),
  };
  return { workspace, mounts, holdouts, homes: await createHomes(scratch), scratch };
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

/** The policy in use, as a glob of its own when it lies in the repository. */
async function insideRoot(path: string, root: string): Promise<string[]> {
  const below = relative(root, join(await realpath(dirname(path)), basename(path)));
  return below.startsWith(`..${sep}`) ? [] : [`/${below.split(sep).join('/')}`];
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
    workdir: opened.workspace.dir,
    home: opened.homes.setup,
    env: request.environment,
    signal: session.interrupt,
  });
  if (probed.kind === 'unavailable') throw new RunBlockedError('sandbox_unavailable', probed.reason);
  closers.push(() => probed.sandbox.close());
  return probed.sandbox;
}
