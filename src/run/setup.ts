import { createHeadTailBuffer } from '../context/index.ts';
import { RunBlockedError } from '../errors.ts';
import type { Item } from '../events/index.ts';
import type { SetupStep } from '../policy/index.ts';
import type { Mount, SandboxedCommand } from '../sandbox/index.ts';
import { buildEnvironment } from './environment.ts';
import type { RunContext } from './run-context.ts';

/** Where setup runs: the workspace, or a clean room that needs its dependencies again. */
export interface SetupPlace {
  dir: string;
  mounts: readonly Mount[];
  home: string;
  /** The agent's change may decide what setup runs (an install script): it gets no secrets then. */
  afterChange: boolean;
}

function withoutSecrets(step: SetupStep): SetupStep {
  return { ...step, env: { ...step.env, pass: [] } };
}

const OUTPUT_BYTES = 16_384;

/** Runs every setup step in order, each with its own retries. Throws `RunBlockedError` when one fails in the end. */
export async function runSetup(context: RunContext, place: SetupPlace): Promise<void> {
  for (const step of place.afterChange ? context.policy.setup.map(withoutSecrets) : context.policy.setup) {
    for (let tries = 0; ; tries++) {
      const failure = await runStep(step, context, place);
      if (failure === null) break;
      if (tries >= step.retries || context.stop.aborted) {
        if (context.stop.aborted) return;
        throw new RunBlockedError('setup_failed', `setup command ${JSON.stringify(step.run)} ${failure}`);
      }
    }
  }
}

/** Returns why the step failed, or null. */
async function runStep(step: SetupStep, context: RunContext, place: SetupPlace): Promise<string | null> {
  const id = context.nextItemId();
  const base = { id, type: 'command_execution', command: step.run } as const;
  const started: Item = { ...base, status: 'in_progress', aggregated_output: '', exit_code: null };
  await context.emit({ type: 'item.started', turn: null, phase: 'setup', item: started });
  const output = createHeadTailBuffer(OUTPUT_BYTES);
  const redactor = context.redactor.redactStream();
  const network = context.networkLog.watch({ phase: 'setup', turn: null });
  const command: SandboxedCommand = {
    script: step.run,
    workdir: place.dir,
    env: buildEnvironment([context.policy.sandbox.env, step.env], context.request.environment),
    mounts: place.mounts,
    home: place.home,
    network: step.network,
    onNetwork: network.onNetwork,
    timeoutMs: Math.min(step.timeoutMs, context.timeLeftMs()),
    onOutput: (chunk) => output.write(redactor.push(chunk)),
  };
  const end = await context.sandbox.run(command, context.stop);
  await network.told();
  output.write(redactor.end());
  const text = output.read((omission) => `\n[… ${omission.omitted_bytes} bytes left out here]\n`);
  const failed = end.reason !== 'exited' || end.exitCode !== 0;
  const status =
    end.reason === 'timed_out'
      ? 'timed_out'
      : end.reason === 'cancelled'
        ? 'cancelled'
        : failed
          ? 'failed'
          : 'completed';
  const item: Item = {
    ...base,
    status,
    aggregated_output: text.text,
    exit_code: end.exitCode,
    duration_ms: Math.round(end.durationMs),
    ...(text.omission === null ? {} : { omission: text.omission }),
    ...(end.detail === null ? {} : { reason: end.detail }),
  };
  await context.emit({ type: 'item.completed', turn: null, phase: 'setup', item });
  if (!failed) return null;
  return end.reason === 'exited' ? `ended with exit code ${end.exitCode}` : (end.detail ?? `ended: ${end.reason}`);
}
