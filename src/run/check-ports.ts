import { rm } from 'node:fs/promises';
import type { CheckPorts } from '../verify/index.ts';
import { buildEnvironment } from './environment.ts';
import type { RunContext } from './run-context.ts';
import { startServices } from './start-services.ts';

/** What checks need of the run: each has a HOME of its own, as setup left it. */
export function createCheckPorts(context: RunContext): CheckPorts {
  const { policy, sandbox, emit, nextItemId, timeLeftMs, homes, redactor } = context;
  return {
    sandbox,
    emit,
    nextItemId,
    timeLeftMs,
    environment: (rules) => buildEnvironment([policy.sandbox.env, rules], context.request.environment),
    network: policy.sandbox.network,
    watchNetwork: (phase) => context.networkLog.watch({ phase, turn: null }),
    startServices: (place, { secret }) => startServices('verify', { context, ...place, secret }),
    outputBytes: policy.limits.outputBytes,
    async openHome() {
      const dir = await homes.copy('check');
      return { dir, close: () => rm(dir, { recursive: true, force: true }) };
    },
    redactStream() {
      const stream = redactor.redactStream();
      return { write: (chunk) => stream.push(chunk), end: () => stream.end() };
    },
  };
}
