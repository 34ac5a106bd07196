import { dirname } from 'node:path';
import { UsageError } from '../errors.ts';
import { type Redactor, systemClock } from '../events/index.ts';
import {
  createModel,
  createRecordingModel,
  createReplayModel,
  loadModelKeys,
  type Model,
  type ModelKeys,
  openCassette,
} from '../model/index.ts';
import { createThread, stateFolder, type Thread, type ThreadMeta, type ThreadPast } from '../thread/index.ts';
import { refuseKeyInEnvironment } from './environment.ts';
import { refuseResume } from './refuse-resume.ts';
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

export interface OpenedThread {
  thread: Thread;
  /** What earlier runs of the thread left; null in its first. */
  past: ThreadPast | null;
}

export async function openThread(
  request: RunRequest,
  redactor: Redactor,
  closers: (() => Promise<void>)[],
): Promise<OpenedThread> {
  const stateDir = request.stateDir ?? stateFolder(request.environment);
  const common = { stateDir, redactor, clock: systemClock };
  if (request.resume !== undefined) {
    const { threadId: id, decision } = request.resume;
    const { loadPast, resumeThread } = await import('../thread/index.ts');
    const thread = await resumeThread({ ...common, id, version: request.version });
    closers.push(() => thread.close());
    const past = await loadPast(thread);
    refuseResume({ id, past, decision }, request.policy.policy.limits);
    return { thread, past };
  }
  const { workspace, goal, ephemeral, version } = request;
  const thread = await createThread({ ...common, workspace, goal, ephemeral, version, asked: askedOf(request) });
  closers.push(() => thread.close());
  if (request.outputSchema !== null && !ephemeral)
    await thread.writeArtifact(SCHEMA_ARTIFACT, request.outputSchema.text);
  return { thread, past: null };
}

/** Where the schema of `--output-schema` is kept for a resumed run. */
export const SCHEMA_ARTIFACT = 'output-schema.json';

function askedOf({ policyFile = null, floorFile = null, replay, trustRef }: RunRequest): ThreadMeta['asked'] {
  return {
    policy: policyFile,
    policy_floor: floorFile,
    cassette: typeof replay === 'string' ? replay : null,
    trust_ref: trustRef,
  };
}

export async function openModel({
  request,
  session,
  keys,
  redactor,
  skip,
  closers,
}: {
  request: RunRequest;
  session: Session;
  closers: (() => Promise<void>)[];
  keys: ModelKeys;
  redactor: Redactor;
  /** Answers that earlier runs of the thread took from the cassette. */
  skip: number;
}): Promise<Model> {
  const { policy } = request.policy;
  const needsPrice = policy.limits.costIsExplicit && request.kind === 'agent';
  const plain = await (request.replay !== null || policy.model === null
    ? createReplayModel({
        cassette: request.replay ?? [],
        model: policy.model,
        needsPrice: needsPrice && policy.model !== null,
        skip,
        onDrift: (drift) =>
          request.onDrift?.({ turn: drift.index + 1, expected: drift.expected, actual: drift.actual }),
      })
    : createModel({
        ...{ model: policy.model, keys, env: request.environment, workspace: request.workspace, needsPrice, skip },
      }));
  if (request.record === null) return plain;
  const cassette = await openCassette(request.record, session.interrupt);
  const notWhole = (error: unknown) =>
    `the cassette ${request.record} is not whole: ${error instanceof Error ? error.message : String(error)}`;
  let isWhole = true;
  closers.push(async () => {
    // What was told already fails once more.
    await session
      .withinGrace(cassette.close())
      .catch((error) => (isWhole ? session.noteProblem(notWhole(error)) : null));
  });
  return createRecordingModel(plain, {
    file: { ...cassette, write: (line) => session.withinGrace(cassette.write(line)) },
    redact: redactor.redact,
    async onError(error) {
      isWhole = false;
      await session.emit({ type: 'error', code: 'record', message: notWhole(error) });
    },
  });
}
