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
} from '../model/index.ts';
import { createThread, stateFolder, type Thread } from '../thread/index.ts';
import { refuseKeyInEnvironment } from './environment.ts';
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
    version: request.version,
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
