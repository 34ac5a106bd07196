import { setTimeout as delay } from 'node:timers/promises';
import { createHeadTailBuffer } from '../context/index.ts';
import type { Item, Phase } from '../events/index.ts';
import type { Service } from '../policy/index.ts';
import type { CommandEnd, Mount, SandboxedCommand } from '../sandbox/index.ts';
import { buildEnvironment } from './environment.ts';
import type { RunContext } from './run-context.ts';

/** What a service sees: the place of those that use it. */
export interface ServiceSite {
  context: RunContext;
  dir: string;
  mounts: readonly Mount[];
  phase: Phase;
  /** Its output goes to nobody. */
  secret: boolean;
  /** Aborts when the phase is over, and with the run. */
  signal: AbortSignal;
}

export interface KeptService {
  /** null once it answers; else why it does not. */
  ready: Promise<string | null>;
  /** After the site's signal: resolves when it is gone and its item is closed. */
  ended: Promise<void>;
}

const OUTPUT_BYTES = 16_384;
const MOST_READY_BYTES = 400;
const MOST_RESTARTS = 10;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Starts a service, asks until it answers, and starts it again when it ends by itself. */
export function keepUp(service: Service, site: ServiceSite): KeptService {
  const { context, signal } = site;
  const id = context.nextItemId();
  const base = { id, type: 'service', name: service.name, command: service.run } as const;
  const output = createHeadTailBuffer(OUTPUT_BYTES);
  const redactor = context.redactor.redactStream();
  const network = context.networkLog.watch({ phase: site.phase, turn: null });
  const giveUp = new AbortController();
  const stop = AbortSignal.any([signal, giveUp.signal]);
  const startedAt = performance.now();
  let last: CommandEnd | null = null;
  let restarts = 0;
  let isUp = false;

  async function run(): Promise<void> {
    const home = await context.homes.copy('service');
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      last = await context.sandbox.run(
        {
          ...commandOf(service.run, site, home),
          serves: true,
          timeoutMs: Number.POSITIVE_INFINITY,
          onNetwork: network.onNetwork,
          onOutput: (chunk) => output.write(redactor.push(chunk)),
        },
        stop,
      );
      if (stop.aborted || !isUp || restarts >= MOST_RESTARTS) return;
      restarts++;
      await pause(pauseMs, stop);
      if (stop.aborted) return;
    }
  }

  async function becomeReady(): Promise<string | null> {
    const deadline = performance.now() + Math.min(service.timeoutMs, context.timeLeftMs());
    const home = await context.homes.copy('ready');
    let said = '';
    for (let pauseMs = FIRST_PAUSE_MS / 2; !stop.aborted; pauseMs = Math.min(2 * pauseMs, 1_000)) {
      if (last !== null) return `service ${service.name} ${wordsOf(last)} before it was ready`;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0)
        return `service ${service.name} was not ready within ${service.timeoutMs / 1000} s (${service.ready}${said})`;
      const words = createHeadTailBuffer(MOST_READY_BYTES);
      const filter = context.redactor.redactStream();
      const onOutput = (chunk: Buffer) => words.write(filter.push(chunk));
      const asked = { ...commandOf(service.ready, site, home), timeoutMs: leftMs, onOutput };
      const answer = await context.sandbox.run(asked, stop);
      words.write(filter.end());
      // It may tell of hidden files, as the service itself may.
      const { text } = words.read(() => ' … ');
      said = site.secret || text.trim() === '' ? '' : `: ${text.replace(/\s+/g, ' ').trim()}`;
      if (answer.reason === 'exited' && answer.exitCode === 0 && last === null) {
        isUp = true;
        return null;
      }
      if (answer.reason === 'failed_to_start') return `service ${service.name} cannot be asked: ${answer.detail ?? ''}`;
      await pause(pauseMs, stop);
    }
    return `service ${service.name} was cancelled`;
  }

  async function close(): Promise<void> {
    output.write(redactor.end());
    const text = output.read((omission) => `\n[… ${omission.omitted_bytes} bytes left out here]\n`);
    await network.told();
    const isCancelled = signal.aborted && !context.stop.aborted && last?.reason === 'cancelled' && isUp;
    const item: Item = {
      ...base,
      status: isCancelled ? 'completed' : context.stop.aborted ? 'cancelled' : 'failed',
      aggregated_output: site.secret ? '' : text.text,
      exit_code: last?.exitCode ?? null,
      restarts,
      duration_ms: Math.round(performance.now() - startedAt),
      ...(text.omission === null || site.secret ? {} : { omission: text.omission }),
      ...(isCancelled || last === null
        ? {}
        : { reason: isUp || last.reason !== 'cancelled' ? wordsOf(last) : 'was not ready' }),
    };
    await context.emit({ type: 'item.completed', turn: null, phase: site.phase, item });
  }

  const started: Item = { ...base, status: 'in_progress', aggregated_output: '', exit_code: null, restarts: 0 };
  const begun = context.emit({ type: 'item.started', turn: null, phase: site.phase, item: started });
  const kept = begun.then(run);
  const ready = begun.then(becomeReady).then((reason) => {
    if (reason !== null) giveUp.abort();
    return reason;
  });
  return { ready, ended: Promise.all([kept, ready]).then(close) };
}

function commandOf(
  script: string,
  { context, dir, mounts }: ServiceSite,
  home: string,
): Omit<SandboxedCommand, 'timeoutMs' | 'onOutput'> {
  const { env, network } = context.policy.sandbox;
  const environment = buildEnvironment([env], context.request.environment);
  return { script, workdir: dir, env: environment, mounts, home, network };
}

function wordsOf({ reason, exitCode, detail }: CommandEnd): string {
  return reason === 'exited' ? `ended with exit code ${exitCode}` : `ended: ${detail ?? reason}`;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, null, { signal }).catch((error: unknown) => {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  });
}
