import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Result } from '../../src/events/index.ts';
import { auditEvents, openThread } from '../../src/thread/index.ts';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const FULL = '/dev/full';
const shell = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
const FINISH = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'all done' } }] };
let bench: Bench;
let cassette: string;
let before: Record<string, string>;

function layOut(answers: readonly object[]): void {
  cassette = writeCassette(bench, answers);
}
beforeEach(() => {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': 'version: 1\nverify: {checks: []}\n' });
  commitAll(bench);
  before = treeOf(bench.ws);
  layOut([shell('echo b > a.txt'), FINISH]);
});
afterEach(() => bench.remove());

/** The built CLI with a file as stdout or stderr. */
async function runInto(args: readonly string[], files: { stdout?: string; stderr?: string }) {
  const open = (file: string | undefined) => (file === undefined ? null : openSync(file, 'w'));
  const [stdout, stderr] = [open(files.stdout), open(files.stderr)];
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: bench.ws,
    env: bench.env,
    stdio: ['ignore', stdout ?? 'ignore', stderr ?? 'pipe'],
  });
  for (const fd of [stdout, stderr]) if (fd !== null) closeSync(fd);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', (status) => resolve(status)));
  return { code, said };
}

/** The one thread of the bench, as `belay audit` sees it. */
async function auditThread() {
  const state = join(bench.root, 'state', 'belay');
  const [id = ''] = readdirSync(join(state, 'threads'));
  return auditEvents((await openThread(state, id)).readEvents());
}

describe.skipIf(!existsSync(FULL))('a full disk under stdout', () => {
  it.each(['jsonl', 'text'])(
    'ends a run in %s as what it is: exit 1, named, the tree as it was, the thread whole',
    async (format) => {
      const result = join(bench.io, 'result.json');
      const args = ['run', 'go', '--replay', cassette, '--format', format, '--result', result];
      const { code, said } = await runInto(args, { stdout: FULL });
      const told = Result.parse(JSON.parse(readFileSync(result, 'utf8')));
      expect({ code, outcome: told.outcome, error: told.error?.code, turns: told.limits.turns.used }).toEqual({
        code: 1,
        outcome: 'internal_error',
        error: 'stdout_unwritable',
        turns: 0,
      });
      expect(said).toMatch(/cannot write to stdout: ENOSPC.*make room/);
      expect(await auditThread()).toMatchObject({ ok: true, outcome: 'internal_error' });
      expect(treeOf(bench.ws)).toEqual(before);
    },
  );

  it('ends a printing command with one sentence', async () => {
    const { code, said } = await runInto(['schema', 'events'], { stdout: FULL });
    expect({ code, lines: said.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 });
    expect(said).toMatch(/^belay: cannot write to stdout: ENOSPC/);
  });

  it('ends a batch, and a merge, with exit 1, and what was not told is no verdict', async () => {
    const jobs = join(bench.io, 'jobs.jsonl');
    writeFileSync(jobs, `${JSON.stringify({ id: 'one', goal: 'go' })}\n`);
    const { code, said } = await runInto(['batch', jobs, '--replay', cassette], { stdout: FULL });
    expect(code).toBe(1);
    expect(said).toContain('cannot write to stdout: ENOSPC');
    const results = join(bench.io, 'results.jsonl');
    await runInto(['batch', jobs, '--replay', cassette, '--results', results, '--format', 'quiet'], {});
    const merged = await runInto(['batch', 'merge', results, '--events', FULL], { stdout: FULL });
    expect(merged.code).toBe(1);
    expect(merged.said).toContain('cannot write to stdout: ENOSPC');
    expect(merged.said).toContain(`cannot write to ${FULL}: ENOSPC`);
  });
});

describe.skipIf(!existsSync(FULL))('a full disk under another output', () => {
  it('of --events is told on stderr and in the stream, and the run goes on', async () => {
    const end = await runCli(['run', 'go', '--replay', cassette, '--events', FULL], bench);
    expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 0, outcome: 'unchecked' });
    const errors = end.events.flatMap((event) => (event.type === 'error' ? [event] : []));
    expect(errors).toMatchObject([{ code: 'output_file', message: expect.stringContaining(FULL) }]);
    expect(end.stderr).toContain(`cannot write to ${FULL}: ENOSPC`);
  });

  it('of --patch and --message is told, and the patch is where the result says', async () => {
    const end = await runCli(['run', 'go', '--replay', cassette, '--patch', FULL, '--message', FULL], bench);
    expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 0, outcome: 'unchecked' });
    expect(end.events.filter(({ type }) => type === 'error')).toHaveLength(2);
    expect(readFileSync(end.result?.changes.patch ?? '', 'utf8')).toContain('+b');
  });

  it('of --result is exit 1: the verdict is in the stream, and a pipeline that gates on the file stops', async () => {
    const end = await runCli(['run', 'go', '--replay', cassette, '--result', FULL], bench);
    expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 1, outcome: 'unchecked' });
    expect(end.stderr).toContain(`cannot write ${FULL}: ENOSPC`);
    expect(bench.read('a.txt')).toBe('b\n');
  });

  it('of stderr costs the run nothing', async () => {
    expect((await runInto(['run', 'go', '--replay', cassette], { stderr: FULL })).code).toBe(0);
    expect(bench.read('a.txt')).toBe('b\n');
  });
});

describe('a reader that goes away', () => {
  it('ends a run with 141: the workspace as it was, the thread whole, nothing left running', async () => {
    layOut([
      shell('echo b > a.txt; sleep 86397 & disown'),
      ...Array.from({ length: 30 }, (_, i) => shell(`echo ${i}`)),
      FINISH,
    ]);
    const child = spawn(process.execPath, [CLI, 'run', 'go', '--replay', cassette], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise<number | null>((resolve) => child.on('close', (status) => resolve(status)));
    expect(code).toBe(141);
    expect(treeOf(bench.ws)).toEqual(before);
    expect(await auditThread()).toMatchObject({ ok: true, outcome: 'interrupted' });
    expect(commandLines().filter((line) => line.includes('86397'))).toEqual([]);
  });

  it('of --events alone is told, and the run goes on', async () => {
    const script = `"$0" "$1" run go --replay "$2" --events >(true) & wait $!`;
    const child = spawn('bash', ['-c', script, process.execPath, CLI, cassette], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', (status) => resolve(status)));
    expect({ code, tree: bench.read('a.txt') }).toEqual({ code: 0, tree: 'b\n' });
  });
});

function commandLines(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'latin1')] : [];
    } catch {
      return [];
    }
  });
}

describe('an output that cannot be written', () => {
  const refused = async (option: string, path: string) => {
    const end = await runCli(['run', 'go', '--replay', cassette, option, path], bench);
    expect({ code: end.code, outcome: end.result?.outcome, turns: end.result?.limits.turns.used }).toEqual({
      code: 2,
      outcome: 'usage_error',
      turns: 0,
    });
    expect(end.result?.reason).toContain(option);
  };

  it('is a usage error before anything runs', async () => {
    await refused('--patch', '/proc/no/such/file');
    await refused('--message', join(bench.ws, 'a.txt', 'message'));
    await refused('--result', bench.io);
  });

  it.skipIf(process.geteuid?.() === 0)('is one too where the file is read-only', async () => {
    const path = join(bench.io, 'result.json');
    writeFileSync(path, 'of the run before\n', { mode: 0o444 });
    await refused('--result', path);
  });
});

it('goes on where the folder of the file that is stdout cannot be reached any more', async () => {
  const folder = join(bench.root, 'logs');
  mkdirSync(folder);
  const stdout = openSync(join(folder, 'out.jsonl'), 'w');
  rmSync(folder, { recursive: true });
  const result = join(bench.io, 'result.json');
  const child = spawn(process.execPath, [CLI, 'run', 'go', '--replay', cassette, '--result', result], {
    cwd: bench.ws,
    env: bench.env,
    stdio: ['ignore', stdout, 'ignore'],
  });
  closeSync(stdout);
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  expect(Result.parse(JSON.parse(readFileSync(result, 'utf8'))).outcome).toBe('unchecked');
});
