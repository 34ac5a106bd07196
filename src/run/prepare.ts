import { createRedactor } from '../events/index.ts';
import type { LoadedPolicy } from '../policy/index.ts';
import type { SandboxStatus } from '../sandbox/index.ts';
import { createThreadSink, type ThreadPast } from '../thread/index.ts';
import type { Holdouts } from '../verify/index.ts';
import type { Workspace } from '../workspace/index.ts';
import { setupSecrets } from './environment.ts';
import { type LoadedInstructions, loadInstructions } from './instructions.ts';
import { createNetworkLog } from './network-log.ts';
import { locateFolder, openFolder, openSandbox, openTree } from './open-folder.ts';
import { loadKeys, openModel, openThread } from './open-parts.ts';
import type { RunRequest } from './request.ts';
import type { RunContext } from './run-context.ts';
import type { Session } from './session.ts';
import type { Trees } from './settle.ts';
import { nameOf, tellStart } from './tell-start.ts';

/** What a run needs, opened; with `failure` set, only what could be. */
export interface Prepared {
  failure: Error | null;
  context: RunContext | null;
  trees: Trees | null;
  /** What earlier runs of the thread left; null in its first. */
  past: ThreadPast | null;
  holdouts: Holdouts;
  sandbox: SandboxStatus | null;
  model: { provider: string; name: string } | null;
  threadId: string;
  baseCommit: string | null;
  close(): Promise<void>;
}

/** `run.started` has to be out within a second, whatever is still unknown then. */
const START_WITHIN_MS = 900;

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

async function outcomeOf<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Opens the next part once the one before it is open; fails as that one did otherwise. */
async function after<T, R>(
  before: Outcome<T> | Promise<Outcome<T>>,
  open: (value: T) => Promise<R>,
): Promise<Outcome<R>> {
  const known = await before;
  return known.ok ? outcomeOf(open(known.value)) : known;
}

function both<A, B>(a: Outcome<A>, b: Outcome<B>): Outcome<[A, B]> {
  if (!a.ok) return a;
  return b.ok ? { ok: true, value: [a.value, b.value] } : b;
}

function openedOf<T>(outcome: Outcome<T> | null): T | null {
  return outcome?.ok ? outcome.value : null;
}

async function workspaceOf(tree: Promise<Outcome<{ workspace: Workspace }>>): Promise<Workspace> {
  const outcome = await tree;
  if (outcome.ok) return outcome.value.workspace;
  throw outcome.error;
}

/** Opens everything side by side, tells `run.started` as soon as it is known (or late), and never throws: failures are in the answer. */
export async function prepare(
  request: RunRequest,
  session: Session,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<Prepared> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    const ends: PromiseSettledResult<void>[] = [];
    for (const step of closers.toReversed()) ends.push(...(await Promise.allSettled([step()])));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
  const located = outcomeOf(locateFolder(request));
  const keys = await outcomeOf(loadKeys(request));
  const redactor = createRedactor([...(openedOf(keys)?.secrets ?? []), ...setupSecrets(request)]);
  const log = await outcomeOf(openThread(request, redactor, closers));
  const thread = await after(log, async (opened) => opened.thread);
  const past = openedOf(log)?.past ?? null;
  const threadId = openedOf(thread)?.id ?? request.resume?.threadId ?? '';
  session.open(redactor, thread.ok ? [createThreadSink(thread.value)] : []);

  const folder = await after(both(thread, await located), ([store, location]) =>
    openFolder({ request, thread: store, location, closers }),
  );
  const tree = after(both(thread, folder), ([store, opened]) =>
    openTree(opened, { request, thread: store, closers, past, interrupt: session.interrupt, runId: session.runId }),
  );
  const instructions = after(folder, async ({ location: place }) =>
    request.kind === 'verify' || past !== null || request.policy.policy.context.instructions === 'none'
      ? null
      : loadInstructions({ location: place, trustRef: request.trustRef, openTree: () => workspaceOf(tree) }),
  );
  let told: readonly LoadedInstructions[] | null = null;
  const known = instructions.then((read) => {
    told = openedOf(read);
    return read;
  });
  const sandbox = after(folder, (opened) => openSandbox({ request, session, opened, closers }));
  const model = after(keys, (known) =>
    openModel({ request, session, closers, keys: known, redactor, skip: past?.requests ?? 0 }),
  );
  // What `meanwhile` could not read is told by whoever needs it.
  const all = Promise.all([tree, sandbox, model, known, outcomeOf(meanwhile())]);
  const late = await withinStart(all, session.elapsedMs());
  await tellStart({
    request,
    session,
    threadId,
    resumedFrom: past?.runs.at(-1)?.runId ?? null,
    location: openedOf(folder)?.location ?? null,
    base: openedOf(late?.[0] ?? null)?.workspace.base ?? null,
    sandbox: openedOf(late?.[1] ?? null),
    model: openedOf(late?.[2] ?? null),
    instructions: told,
  });
  const [openedTree, openedSandbox, openedModel, loaded] = await all;

  const prepared: Prepared = {
    failure: null,
    context: null,
    trees: null,
    past,
    holdouts: openedOf(openedTree)?.holdouts ?? { overlays: [], insideWorkspace: [] },
    sandbox: openedOf(openedSandbox)?.status ?? null,
    model: request.kind === 'verify' ? null : nameOf(openedOf(openedModel)),
    threadId,
    baseCommit: openedOf(openedTree)?.workspace.base.commit ?? null,
    close,
  };
  const failed = [keys, thread, folder, openedTree, openedModel, openedSandbox, loaded].find((outcome) => !outcome.ok);
  if (failed !== undefined && !failed.ok)
    return { ...prepared, failure: failed.error instanceof Error ? failed.error : new Error(String(failed.error)) };
  if (!(thread.ok && folder.ok && openedTree.ok && openedModel.ok && openedSandbox.ok && loaded.ok))
    throw new Error('bug: a part of the run is neither open nor failed');
  const { workspace, mounts, earlier } = openedTree.value;
  const { homes, scratch, carry, ownFiles } = folder.value;
  // The limit is the thread's: what its runs before took counts.
  const elapsedMs = () => (past?.elapsedMs ?? 0) + session.elapsedMs();
  prepared.context = {
    request,
    runId: session.runId,
    policy: mounts.policy,
    emit: session.emit,
    noteProblem: session.noteProblem,
    redactor,
    thread: thread.value,
    workspace,
    instructions: loaded.value ?? [],
    sandbox: openedSandbox.value,
    model: openedModel.value,
    homes,
    mounts,
    ownFiles,
    networkLog: createNetworkLog(session),
    scratch,
    carry,
    earlier,
    ...createStops(request.policy, elapsedMs, { session, closers }),
    nextItemId: session.nextItemId,
    elapsedMs,
  };
  prepared.trees = { found: workspace.base.tree, start: workspace.base.tree };
  return prepared;
}

function createStops(
  loaded: LoadedPolicy,
  elapsedMs: () => number,
  { session, closers }: { session: Session; closers: (() => Promise<void>)[] },
): Pick<RunContext, 'interrupt' | 'stop' | 'timeLeftMs'> {
  const timeLeftMs = () => Math.max(0, loaded.policy.limits.wallTimeMs - elapsedMs());
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
