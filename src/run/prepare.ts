import { createRedactor } from '../events/index.ts';
import type { LoadedPolicy } from '../policy/index.ts';
import type { SandboxStatus } from '../sandbox/index.ts';
import { createThreadSink } from '../thread/index.ts';
import type { Holdouts } from '../verify/index.ts';
import { setupSecrets } from './environment.ts';
import { loadKeys, openFolder, openModel, openSandbox, openThread } from './open-parts.ts';
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
  const redactor = createRedactor([...(openedOf(keys)?.secrets ?? []), ...setupSecrets(request)]);
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
    model: request.kind === 'verify' ? null : nameOf(openedOf(openedModel)),
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
