import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WIRES } from '../model/fixtures.ts';
import { ANSWERS, SIGNED, saidBy } from '../model/reasoned-answers.ts';
import { startScriptedServer } from '../model/scripted-server.ts';
import { CLI, commitAll, createBench, runCli } from '../scenario.ts';

const wires = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[];

/** One run: killed while its third request waits for an answer, gone on with, and replayed. */
it.each(wires)(
  'reasoning goes back from a resumed thread byte for byte, and its replay does not drift (%s)',
  async (wire) => {
    let child: ChildProcess | null = null;
    const server = await startScriptedServer([
      ...[ANSWERS[wire](0), ANSWERS[wire](1)],
      () => child?.kill('SIGKILL'),
      ANSWERS[wire](2),
    ]);
    onTestFinished(() => server.close());
    const { path, ...model } = WIRES[wire];
    const policy = {
      version: 1,
      model: {
        ...{ ...model, base_url: `${server.url}${path}` },
        ...(wire === 'compatible' ? {} : { reasoning_effort: 'medium' }),
      },
      limits: { turns: 3, repeats: 50 },
      verify: { checks: [] },
    };
    const bench = createBench({ 'a.txt': 'a\n', 'belay.yml': JSON.stringify(policy) });
    onTestFinished(() => bench.remove());
    commitAll(bench);
    child = spawn(process.execPath, [CLI, 'run', 'look'], { cwd: bench.ws, env: bench.env, stdio: 'ignore' });
    expect(await new Promise((resolve) => child?.on('close', (_, signal) => resolve(signal)))).toBe('SIGKILL');

    const [id = ''] = readdirSync(join(bench.root, 'state/belay/threads'));
    const resumed = await runCli(['resume', id], bench);
    expect(resumed.result?.outcome).toBe('limit_reached');
    const [before, again, ...more] = server.requests.slice(2);
    const said = saidBy(before?.body);
    expect([said.length, said.filter((text) => !text.includes(SIGNED[wire])), more]).toEqual([2, [], []]);
    expect(again?.raw).toBe(before?.raw);

    const replay = await runCli(['replay', id], bench);
    expect({ code: replay.code, stderr: replay.stderr }).toMatchObject({ code: 0 });
  },
  60_000,
);
