import { once } from 'node:events';
import { createWriteStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addUsage, createEventStream, createRedactor, type EventBody } from '../../src/events/index.ts';
import { fixedClock, runStarted, sampleResult, WHOLE_RUN } from '../events/sample-events.ts';
import { type Bench, createBench, runCli } from '../scenario.ts';

const HOOK = pathToFileURL(join(import.meta.dirname, 'peak-memory-hook.mjs')).href;
const MEGABYTE = 1_000_000;
const TURNS = 220;

let bench: Bench;
let log: string;
const at = (name: string) => join(bench.io, name);

/** A run whose commands print nearly a megabyte each: a log of 200 MB, written as it is made. */
async function writeBigLog(path: string): Promise<void> {
  const ended = WHOLE_RUN.find((body) => body.type === 'turn.completed');
  if (ended?.type !== 'turn.completed') throw new Error('the sample has no turn');
  const out = createWriteStream(path);
  const stream = createEventStream({
    runId: 'r_1',
    clock: fixedClock,
    redactor: createRedactor([]),
    sinks: [
      {
        async write(line) {
          if (!out.write(line)) await once(out, 'drain');
        },
        close: async () => undefined,
      },
    ],
    onSinkFailed: (_, error) => {
      throw error;
    },
  });
  const output = 'a line of a build that is not interesting at all <b>&\n'.repeat(17_500);
  const item = { status: 'completed', duration_ms: 20, command: 'make', exit_code: 0 } as const;
  let usage = ended.usage;
  await stream.emit(runStarted);
  for (let turn = 1; turn <= TURNS; turn++) {
    if (turn > 1) usage = addUsage(usage, ended.usage);
    const bodies: EventBody[] = [
      { type: 'turn.started', turn, attempt: 1 },
      {
        type: 'item.completed',
        turn,
        phase: 'agent',
        item: { ...item, id: `i${turn}`, type: 'command_execution', aggregated_output: `${turn}\n${output}` },
      },
      { ...ended, turn, total_usage: usage },
    ];
    for (const body of bodies) await stream.emit(body);
  }
  await stream.emit({ type: 'run.completed', result: sampleResult({ usage }) });
  await stream.close();
  out.end();
  await once(out, 'close');
}

beforeAll(async () => {
  bench = createBench();
  log = at('events.jsonl');
  await writeBigLog(log);
}, 120_000);
afterAll(() => bench.remove());

describe('a log of 200 MB', () => {
  it.each([
    ['html', 6],
    ['markdown', 0.1],
    ['junit', 0.1],
    ['sarif', 0.1],
  ])('becomes %s of a page’s size, in memory that does not grow with it', async (format, megabytes) => {
    expect(statSync(log).size).toBeGreaterThan(200 * MEGABYTE);
    const end = await runCli(['report', log, '--format', format, '-o', at('report')], bench, {
      env: { NODE_OPTIONS: `--import=${HOOK}`, PEAK_LOG: at('peak') },
    });
    expect([end.code, end.stderr]).toEqual([0, '']);
    expect(Number(readFileSync(at('peak'), 'utf8')) * 1024).toBeLessThan(300 * MEGABYTE);
    expect(statSync(at('report')).size).toBeLessThan(megabytes * MEGABYTE);
  });
});
