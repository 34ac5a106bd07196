import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';
import { Result } from '../src/events/index.ts';
import { type Bench, type CliEnd, type Expected, runCli } from './scenario.ts';

/** Runs a scenario as its `result.json` says: alone, beside another run, with a signal on the way, into another stdout. */
export async function runScenario(dir: string, expected: z.infer<typeof Expected>, bench: Bench): Promise<CliEnd> {
  const goal = ['--goal-file', join(dir, 'goal.md')];
  const { signal } = expected;
  let isSent = false;
  const run = async () => {
    const file = join(bench.io, 'result.json');
    const args = ['run', ...goal, '--replay', join(dir, 'model.jsonl'), '--result', file, ...(expected.args ?? [])];
    const end = await runCli(args, bench, {
      env: expected.env ?? {},
      ...(expected.stdout === undefined ? {} : { stdout: expected.stdout }),
      onOutput(stdout, child) {
        if (signal === undefined || isSent || !stdout.includes(`{"type":"${signal.at}"`)) return;
        isSent = true;
        child.kill(signal.name);
      },
    });
    return { ...end, result: end.result ?? Result.parse(JSON.parse(readFileSync(file, 'utf8'))) };
  };
  return expected.beside ? besideAnother(['run', ...goal, '--replay', join(dir, 'beside.jsonl')], bench, run) : run();
}

/** The other run is at its first command while `run` runs, and is then told to end. */
async function besideAnother(args: readonly string[], bench: Bench, run: () => Promise<CliEnd>): Promise<CliEnd> {
  let middle: Promise<CliEnd> | null = null;
  await runCli(args, bench, {
    onOutput(stdout, child) {
      if (middle !== null || !stdout.includes('{"type":"item.started"')) return;
      middle = run().finally(() => child.kill('SIGTERM'));
    },
  });
  if (middle === null) throw new Error('the run beside did not come to its first command');
  return middle;
}
