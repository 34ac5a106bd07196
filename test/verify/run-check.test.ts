import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { type CheckRun, runCheck } from '../../src/verify/index.ts';
import { benchOf, checkOf, openSandbox, placeOf, tempFolder } from './support.ts';

const folder = tempFolder({ 'sub/here.txt': 'x' });
const homes = tempFolder();
const never = new AbortController().signal;
let sandbox: Sandbox;

beforeAll(async () => {
  const opened = await openSandbox('off', folder.dir);
  if (typeof opened === 'string') throw new Error(opened);
  sandbox = opened;
});
afterAll(async () => {
  await sandbox.close();
  folder.dispose();
  homes.dispose();
});

function start(
  check: Parameters<typeof runCheck>[0],
  how: { secret?: boolean; testsBefore?: number; timeLeftMs?: number } = {},
) {
  const bench = benchOf(
    sandbox,
    homes.dir,
    how.timeLeftMs === undefined ? {} : { timeLeftMs: () => how.timeLeftMs ?? 0 },
  );
  const site = {
    place: placeOf(folder.dir),
    ports: bench.ports,
    testsBefore: how.testsBefore ?? null,
    secret: how.secret ?? false,
  };
  return { bench, run: (signal: AbortSignal = never): Promise<CheckRun> => runCheck(check, site, signal) };
}
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

describe('run-check', () => {
  it('runs a check in its folder with its environment, and tells so with one item', async () => {
    const { bench, run } = start(
      checkOf('echo "$GREETING from $(basename "$PWD")"; echo more >&2', {
        workdir: 'sub',
        env: { pass: [], set: { GREETING: 'hello' } },
      }),
    );
    const got = await run();
    const text = 'hello from sub\nmore\n';
    expect({ ...got, durationMs: 0 }).toEqual({
      name: 'tests',
      command: got.command,
      required: true,
      status: 'passed',
      exitCode: 0,
      durationMs: 0,
      output: { text, omission: null, sha256: sha(text), tail: text },
      tests: null,
      reason: null,
      flaky: false,
      wallTimeOver: false,
    });
    expect(bench.events.map((event) => event.type)).toEqual(['item.started', 'item.completed']);
    expect(bench.events[0]).toEqual({
      type: 'item.started',
      turn: null,
      phase: 'verify',
      item: {
        id: 'item_0',
        type: 'check',
        name: 'tests',
        command: got.command,
        status: 'in_progress',
        exit_code: null,
        passed: null,
        aggregated_output: '',
      },
    });
    expect(bench.events[1]).toEqual({
      type: 'item.completed',
      turn: null,
      phase: 'verify',
      item: {
        id: 'item_0',
        type: 'check',
        name: 'tests',
        command: got.command,
        status: 'completed',
        duration_ms: got.durationMs,
        exit_code: 0,
        passed: true,
        aggregated_output: text,
        output_sha256: sha(text),
      },
    });
  });

  it('says how a check failed', async () => {
    const ends = [];
    for (const script of ['exit 3', 'no-such-program-4711', 'kill -9 $$'])
      ends.push(await start(checkOf(script)).run());
    ends.push(await start(checkOf('true', { workdir: 'gone' })).run());
    expect(ends.map(({ status, exitCode, reason }) => ({ status, exitCode, reason }))).toEqual([
      { status: 'failed', exitCode: 3, reason: 'ended with exit status 3' },
      { status: 'failed', exitCode: 127, reason: 'ended with exit status 127 (command not found)' },
      { status: 'failed', exitCode: 137, reason: 'ended with exit status 137 (signal 9)' },
      { status: 'failed', exitCode: 1, reason: 'ended with exit status 1' },
    ]);
  });

  it('cuts a check that is over its time', async () => {
    const { bench, run } = start(checkOf('echo begun; sleep 600', { timeoutMs: 300 }));
    const got = await run();
    expect([got.status, got.wallTimeOver, got.output?.text]).toEqual(['timed_out', false, 'begun\n']);
    expect(bench.items().map(({ status, passed }) => [status, passed])).toEqual([['timed_out', false]]);
  });

  it('tells the wall time of the run from the time of the check', async () => {
    const cut = await start(checkOf('sleep 600'), { timeLeftMs: 300 }).run();
    const late = await start(checkOf('touch started'), { timeLeftMs: 0 }).run();
    expect([cut.status, cut.wallTimeOver, late.status, late.wallTimeOver]).toEqual([
      'timed_out',
      true,
      'timed_out',
      true,
    ]);
    expect(existsSync(path.join(folder.dir, 'started'))).toBe(false);
  });

  it('closes its item as cancelled when the signal comes, and does not start after it', async () => {
    const controller = new AbortController();
    const { bench, run } = start(checkOf('sleep 600'));
    const pending = run(controller.signal);
    controller.abort();
    const got = await pending;
    const again = start(checkOf('touch started'));
    await again.run(controller.signal);
    expect([got.status, got.exitCode]).toEqual(['cancelled', null]);
    expect([...bench.items(), ...again.bench.items()].map(({ status, passed }) => [status, passed])).toEqual([
      ['cancelled', null],
      ['cancelled', null],
    ]);
    expect(existsSync(path.join(folder.dir, 'started'))).toBe(false);
  });

  it('does not blame a check for a sandbox that cannot start it', async () => {
    const bench = benchOf(sandbox, homes.dir);
    const place = { ...placeOf(folder.dir), dir: path.join(folder.dir, 'nowhere') };
    const got = await runCheck(checkOf('true'), { place, ports: bench.ports, testsBefore: null, secret: false }, never);
    expect(got.status).toBe('blocked');
    expect(got.reason).toMatch(/^could not be started: .*nowhere/);
  });

  it('keeps the head and the tail of a long output, and the digest of all of it', async () => {
    const { bench, run } = start(checkOf('seq 1 20000'));
    const got = await run();
    const whole = `${Array.from({ length: 20_000 }, (_, n) => n + 1).join('\n')}\n`;
    const head = whole.slice(0, 1024);
    const omission = { total_bytes: whole.length, omitted_bytes: whole.length - 2048, omitted_from: 1024 };
    const note = `\n[… ${omission.omitted_bytes} of ${whole.length} bytes left out …]\n`;
    expect(got.output).toEqual({
      text: `${head}${note}${whole.slice(-1024)}`,
      omission,
      sha256: sha(whole),
      tail: whole.slice(-4096),
    });
    expect(bench.items()[0]?.omission).toEqual(omission);
  });

  it('tells nobody what a hidden check printed', async () => {
    const { bench, run } = start(checkOf('echo want 42; exit 4', { expect: { matches: 'x', testsNotFewer: true } }), {
      secret: true,
    });
    const got = await run();
    expect({ ...got, durationMs: 0, command: '' }).toEqual({
      name: 'tests',
      command: '',
      required: true,
      status: 'failed',
      exitCode: 4,
      durationMs: 0,
      output: null,
      tests: null,
      reason: 'failed',
      flaky: false,
      wallTimeOver: false,
    });
    expect(bench.items()[0]).toMatchObject({ aggregated_output: '', exit_code: 4, passed: false });
    expect(bench.items()[0]).not.toHaveProperty('output_sha256');
  });

  it('holds the output against what the policy expects', async () => {
    const expecting = (
      script: string,
      expectation: { matches?: string; testsNotFewer?: boolean },
      testsBefore?: number,
    ) =>
      start(
        checkOf(script, { expect: { matches: null, testsNotFewer: false, ...expectation } }),
        testsBefore === undefined ? {} : { testsBefore },
      ).run();
    const runs = [
      await expecting("printf 'a\\n\\033[32m7 ok\\033[0m\\nb\\n'", { matches: '^[0-9]+ ok$' }),
      await expecting('echo 7 bad', { matches: '^[0-9]+ ok$' }),
      await expecting('echo 5 passed in 0.1s', { testsNotFewer: true }, 5),
      await expecting('echo 4 passed, 1 skipped in 0.1s', { testsNotFewer: true }, 5),
      await expecting('echo fine', { testsNotFewer: true }, 5),
      await expecting('echo 1 passed in 0.1s', { testsNotFewer: true }),
    ];
    expect(runs.map(({ status, tests, reason }) => ({ status, tests, reason }))).toEqual([
      { status: 'passed', tests: null, reason: null },
      { status: 'failed', tests: null, reason: 'exited with 0, but its output does not match ^[0-9]+ ok$' },
      { status: 'passed', tests: 5, reason: null },
      { status: 'failed', tests: 4, reason: 'ran 4 tests, fewer than the 5 of the baseline' },
      { status: 'failed', tests: null, reason: 'exited with 0, but its output does not tell how many tests ran' },
      { status: 'passed', tests: 1, reason: null },
    ]);
  });

  it('redacts before anything is kept', async () => {
    const bench = benchOf(sandbox, homes.dir, {
      redactStream: () => ({
        write: (chunk) => Buffer.from(chunk.toString().replaceAll('open-sesame', '***')),
        end: () => Buffer.from('end'),
      }),
    });
    const got = await runCheck(
      checkOf('echo open-sesame'),
      { place: placeOf(folder.dir), ports: bench.ports, testsBefore: null, secret: false },
      never,
    );
    expect(got.output).toEqual({ text: '***\nend', omission: null, sha256: sha('***\nend'), tail: '***\nend' });
  });
});
