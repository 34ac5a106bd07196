import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { RunBlockedError, UsageError } from '../errors.ts';
import { createRedactor, type Redactor, systemClock } from '../events/index.ts';
import {
  createModel,
  createRecordingModel,
  createReplayModel,
  loadModelKeys,
  type Model,
  type ModelKeys,
} from '../model/index.ts';
import { type LoadedPolicy, unsupportedKeys } from '../policy/index.ts';
import { probeSandbox, type Sandbox, type SandboxStatus } from '../sandbox/index.ts';
import { createThread, createThreadSink, lockWorkspace, stateFolder, type Thread } from '../thread/index.ts';
import { findHoldouts, type Holdouts } from '../verify/index.ts';
import { openWorkspace, type Workspace } from '../workspace/index.ts';
import { refuseKeyInEnvironment } from './environment.ts';
import { createHomes } from './homes.ts';
import { type MountPlan, planCheckMounts } from './mounts.ts';
import type { RunRequest } from './request.ts';
import { policyFacts, sha256 } from './result.ts';
import type { RunContext } from './run-context.ts';
import type { Session } from './session.ts';
import type { Trees } from './settle.ts';

/** What a run needs, opened; with `failure` set, only what could be. */
export interface Prepared {
  failure: Error | null;
  context: RunContext | null;
  trees: Trees | null;
  holdouts: Holdouts;
  sandbox: SandboxStatus | null;
  model: { provider: string; name: string } | null;
  threadId: string;
  baseCommit: string | null;
  close(): Promise<void>;
}

/** `run.started` has to be out within a second, whatever is still unknown then. */
const START_WITHIN_MS = 900;
const NO_KEYS: ModelKeys = { apiKey: null, headers: {}, secrets: [] };

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

async function outcomeOf<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    return { ok: false, error };
  }
}

function openedOf<T>(outcome: Outcome<T> | null): T | null {
  return outcome?.ok ? outcome.value : null;
}

/** Opens everything side by side, tells `run.started` as soon as it is known (or late), and never throws: failures are in the answer. */
export async function prepare(request: RunRequest, session: Session): Promise<Prepared> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const step of closers.toReversed()) await step();
  };
  const keys = await outcomeOf(loadKeys(request));
  const redactor = createRedactor(openedOf(keys)?.secrets ?? []);
  const thread = await outcomeOf(openThread(request, redactor, closers));
  session.open(redactor, thread.ok ? [createThreadSink(thread.value)] : []);

  const model = keys.ok
    ? outcomeOf(openModel({ request, session, keys: keys.value, redactor }))
    : Promise.resolve(keys);
  const workspace = outcomeOf(thread.ok ? openFolder(request, thread.value, closers) : Promise.reject(thread.error));
  const sandbox = workspace.then((opened) =>
    outcomeOf(
      opened.ok ? openSandbox({ request, session, opened: opened.value, closers }) : Promise.reject(opened.error),
    ),
  );
  const all = Promise.all([model, workspace, sandbox]);
  const late = await withinStart(all, session.elapsedMs());
  const known =
    late === null
      ? { model: null, workspace: null, sandbox: null }
      : { model: openedOf(late[0]), workspace: openedOf(late[1]), sandbox: openedOf(late[2]) };
  await tellStart({ request, session, threadId: openedOf(thread)?.id ?? '', ...known });
  const [openedModel, openedFolder, openedSandbox] = await all;

  const prepared: Prepared = {
    failure: null,
    context: null,
    trees: null,
    holdouts: openedOf(openedFolder)?.holdouts ?? { overlays: [], insideWorkspace: [] },
    sandbox: openedOf(openedSandbox)?.status ?? null,
    model: nameOf(openedOf(openedModel)),
    threadId: openedOf(thread)?.id ?? '',
    baseCommit: openedOf(openedFolder)?.workspace.base.commit ?? null,
    close,
  };
  const failed = [keys, thread, openedFolder, openedModel, openedSandbox].find((outcome) => !outcome.ok);
  if (failed !== undefined && !failed.ok)
    return { ...prepared, failure: failed.error instanceof Error ? failed.error : new Error(String(failed.error)) };
  if (!(thread.ok && openedFolder.ok && openedModel.ok && openedSandbox.ok))
    throw new Error('bug: a part of the run is neither open nor failed');
  const opened = openedFolder.value;
  prepared.context = {
    request,
    policy: opened.mounts.policy,
    emit: session.emit,
    redactor,
    thread: thread.value,
    workspace: opened.workspace,
    sandbox: openedSandbox.value,
    model: openedModel.value,
    homes: opened.homes,
    mounts: opened.mounts,
    scratch: opened.scratch,
    ...createStops(request.policy, session, closers),
    nextItemId: session.nextItemId,
    elapsedMs: session.elapsedMs,
  };
  prepared.trees = { found: opened.workspace.base.tree, start: opened.workspace.base.tree };
  return prepared;
}

function createStops(
  loaded: LoadedPolicy,
  session: Session,
  closers: (() => Promise<void>)[],
): Pick<RunContext, 'interrupt' | 'stop' | 'timeLeftMs'> {
  const timeLeftMs = () => Math.max(0, loaded.policy.limits.wallTimeMs - session.elapsedMs());
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeLeftMs());
  closers.push(async () => clearTimeout(timer));
  return { interrupt: session.interrupt, stop: AbortSignal.any([session.interrupt, over.signal]), timeLeftMs };
}

async function withinStart<T>(work: Promise<T>, elapsedMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), Math.max(0, START_WITHIN_MS - elapsedMs));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function loadKeys({ policy: { policy, path }, replay, environment, workspace }: RunRequest): Promise<ModelKeys> {
  if (policy.model === null && replay === null)
    throw new UsageError(
      'the policy names no model: give one in `model`, by --model PROVIDER/NAME, or a cassette by --replay',
    );
  if (policy.model === null || replay !== null) return NO_KEYS;
  refuseKeyInEnvironment(policy, policy.model.apiKeyEnv === null ? [] : [policy.model.apiKeyEnv]);
  return loadModelKeys(policy.model, { env: environment, folder: path === null ? workspace : dirname(path) });
}

async function openThread(request: RunRequest, redactor: Redactor, closers: (() => Promise<void>)[]): Promise<Thread> {
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
  const lock = await lockWorkspace({ stateDir, workspace: request.workspace, owner: thread.id });
  if (lock.kind === 'held')
    throw new RunBlockedError('busy', `another run holds this workspace (${lock.by.owner}, process ${lock.by.pid})`);
  closers.push(() => lock.release());
  return thread;
}

async function openModel({
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
  const needsPrice = policy.limits.costIsExplicit;
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

interface OpenedFolder {
  workspace: Workspace;
  mounts: MountPlan;
  holdouts: Holdouts;
  homes: Awaited<ReturnType<typeof createHomes>>;
  scratch: string;
}

async function openFolder(
  request: RunRequest,
  thread: Thread,
  closers: (() => Promise<void>)[],
): Promise<OpenedFolder> {
  const { policy, path } = request.policy;
  const unsupported = unsupportedKeys(request.policy)[0];
  if (unsupported !== undefined) throw new UsageError(`${unsupported.key}: ${unsupported.reason}`);
  const scratch = join(thread.dir, 'scratch');
  await mkdir(scratch, { recursive: true, mode: 0o755 });
  const workspace = await openWorkspace({ dir: request.workspace, storeDir: thread.dir });
  closers.push(() => workspace.close());
  const policyDir = path === null ? workspace.dir : dirname(path);
  const holdouts = await findHoldouts(policy.verify.holdout, { policyDir, root: workspace.root });
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
  };
  return { workspace, mounts, holdouts, homes: await createHomes(scratch), scratch };
}

/** The policy in use, as a glob of its own when it lies in the repository. */
async function insideRoot(path: string, root: string): Promise<string[]> {
  const below = relative(root, join(await realpath(dirname(path)), basename(path)));
  return below.startsWith(`..${sep}`) ? [] : [`/${below.split(sep).join('/')}`];
}

async function openSandbox({
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

function nameOf(model: Model | null): { provider: string; name: string } | null {
  return model === null ? null : { provider: model.provider, name: model.name };
}

interface StartFacts {
  request: RunRequest;
  session: Session;
  threadId: string;
  model: Model | null;
  workspace: OpenedFolder | null;
  sandbox: Sandbox | null;
}

async function tellStart({ request, session, threadId, model, workspace, sandbox }: StartFacts): Promise<void> {
  const { limits } = request.policy.policy;
  await session.emit({
    type: 'run.started',
    belay_version: request.version,
    goal: { text: request.goal, sha256: sha256(request.goal) },
    policy: policyFacts(request.policy),
    model: nameOf(model),
    sandbox:
      sandbox === null
        ? null
        : { tier: sandbox.status.tier, reason: sandbox.status.reason, network: sandbox.status.network },
    workspace:
      workspace === null
        ? null
        : {
            root: workspace.workspace.root,
            base_commit: workspace.workspace.base.commit,
            dirty: workspace.workspace.base.dirty,
            git: workspace.workspace.base.git,
          },
    limits: {
      turns: limits.turns,
      attempts: limits.attempts,
      wall_time_ms: limits.wallTimeMs,
      command_time_ms: limits.commandTimeMs,
      tokens: limits.tokens,
      cost_usd: limits.costUsd,
      tool_calls: limits.toolCalls,
      repeats: limits.repeats,
      output_bytes: limits.outputBytes,
      changed_files: limits.changedFiles,
      changed_lines: limits.changedLines,
    },
    thread_id: threadId,
  });
  if (threadId !== '') await session.emit({ type: 'thread.started', thread_id: threadId });
}
