import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';
import { createMachine } from './forge-thread.ts';

const shell = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
const CHECKS = 'limits: {turns: 20}\nverify: {checks: [{name: there, run: test -e a}]}\n';
const policyFile = (bench: Bench, setup: string) => {
  const path = join(bench.io, 'policy.yml');
  writeFileSync(path, `version: 1\nsetup: [{run: ${JSON.stringify(setup)}}]\n${CHECKS}`);
  return path;
};
const errorsOf = (events: readonly { type: string }[]) => events.filter(({ type }) => type === 'error');

/** Runs until a command is told that holds `sleep 1000`, kills belay, and returns the thread's id. */
const runAndKill = (bench: Bench, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, 'run', 'go', ...args], {
      ...{ cwd: bench.ws, env: bench.env, stdio: ['ignore', 'pipe', 'ignore'] },
    });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (/"item.started".*sleep 1000/.test(text)) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', () => {
      const id = /"thread_id":"(t_\w+)"/.exec(text)?.[1];
      if (id === undefined) reject(new Error(text));
      else resolve(id);
    });
  });

describe('uncommitted work, where the thread never had a turn', () => {
  let bench: Bench;
  let id: string;
  let cassette: string;
  beforeAll(async () => {
    bench = createBench({ a: 'a\n' });
    commitAll(bench);
    cassette = writeCassette(bench, [finish]);
    const end = await runCli(['run', 'go', '--policy', policyFile(bench, 'false'), '--replay', cassette], bench);
    if (end.code !== 22) throw new Error(end.stderr);
    id = end.result?.thread_id ?? '';
  }, 30_000);
  afterAll(() => bench.remove());

  it('is not touched by a resumed run, which refuses it', async () => {
    bench.write('a', 'a\nmy work\n');
    bench.write('new.txt', 'mine\n');
    const again = await runCli(['resume', id, '--policy', policyFile(bench, 'true'), '--replay', cassette], bench);
    expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/not as the thread left it \(a, new\.txt\)/)]);
    expect(treeOf(bench.ws)).toEqual({ a: 'a\nmy work\n', 'new.txt': 'mine\n' });
    bench.git('stash', '-q', '-u');
    const clean = await runCli(['resume', id, '--policy', policyFile(bench, 'true'), '--replay', cassette], bench);
    expect(clean.code).toBe(0);
  }, 30_000);

  it('is told apart from what setup left, where the policy keeps that', async () => {
    const keeps = (setup: string) => {
      const path = policyFile(bench, setup);
      writeFileSync(path, `${readFileSync(path, 'utf8')}workspace: {on_failure: keep}\n`);
      return ['--policy', path, '--replay', cassette];
    };
    const { result } = await runCli(['run', 'go', ...keeps('echo 1 > left.txt; false')], bench);
    expect([result?.exit_code, treeOf(bench.ws)]).toEqual([22, { a: 'a\n', 'left.txt': '1\n' }]);
    bench.write('a', 'mine\n');
    const resume = () => runCli(['resume', result?.thread_id ?? '', ...keeps('true')], bench);
    expect([(await resume()).code, bench.read('a')]).toEqual([2, 'mine\n']);
    bench.git('checkout', '-q', 'a');
    expect([(await resume()).code, treeOf(bench.ws)]).toEqual([0, { a: 'a\n' }]);
  }, 30_000);

  it('is refused in a checkout that the thread, or a branch of it, was imported for', async () => {
    const file = join(bench.io, 'thread.belay');
    const first = await runCli(['run', 'go', '--policy', policyFile(bench, 'false'), '--replay', cassette], bench);
    const thread = first.result?.thread_id ?? '';
    await runCli(['thread', 'export', thread, file], bench);
    const other = createMachine(bench, 'other');
    expect((await other.thread('import', file)).code).toBe(0);
    const fork = (await other.thread('fork', thread, '--from-turn', '0')).stdout.trim();
    writeFileSync(join(other.ws, 'a'), 'theirs\n');
    const policy = policyFile(bench, 'true');
    const env = { XDG_STATE_HOME: join(other.ws, '../state') };
    for (const one of [thread, fork]) {
      const args = ['resume', one, '--policy', policy, '--replay', cassette];
      const end = await runCli(args, bench, { cwd: other.ws, env });
      expect([end.code, end.stderr]).toEqual([2, expect.stringMatching(/not as the thread found it \(a\)/)]);
    }
    expect(treeOf(other.ws)['a']).toBe('theirs\n');
  }, 30_000);

  it('is taken for what setup left where the run was killed, told of, and kept', async () => {
    const killed = await runAndKill(bench, ['--policy', policyFile(bench, 'sleep 1000'), '--replay', cassette]);
    bench.write('a', 'a\nmy work\n');
    const end = await runCli(['resume', killed, '--policy', policyFile(bench, 'true'), '--replay', cassette], bench);
    expect([end.code, errorsOf(end.events)]).toMatchObject([0, [{ code: 'changed_before' }]]);
    const patch = join(bench.root, 'state/belay/threads', killed, 'artifacts/found.patch');
    expect(end.stderr).toContain(patch);
    expect(readFileSync(patch, 'utf8')).toContain('+my work');
    expect(treeOf(bench.ws)).toEqual({ a: 'a\n' });
  }, 30_000);
});

describe('repositories that a user made since the thread began', () => {
  const calls = [shell('echo 1 > one.txt'), shell('echo 2 > two.txt; git init -q planted; sleep 1000')];
  const open = (checks: string) => {
    const bench = createBench({ a: 'a\n', 'pkg/file': 'file\n', 'belay.yml': `version: 1\n${checks}` });
    commitAll(bench);
    return bench;
  };
  const makeRepositories = (bench: Bench) => {
    bench.git('init', '-q', 'pkg');
    bench.git('-C', 'pkg', 'commit', '-q', '--allow-empty', '-m', 'mine');
    bench.git('clone', '-q', '.', 'vendor');
    bench.git('worktree', 'add', '-q', '--detach', 'wt');
    bench.write('wt/mine.txt', 'mine\n');
  };
  const PLACES = ['pkg/.git/HEAD', 'vendor/.git/HEAD', 'vendor/a', 'wt/.git', 'wt/mine.txt'];
  const there = (folder: string) => PLACES.filter((path) => existsSync(join(folder, path)));

  it('stay where they are, whether it is rolled back or resumed', async () => {
    const bench = open(CHECKS.replace('-e a', '-e three.txt'));
    try {
      const commands = ['mkdir lib; echo 1 > lib/one.txt', 'echo 2 > two.txt', 'echo 3 > three.txt'];
      const cassette = writeCassette(bench, [...commands.map(shell), finish]);
      const first = await runCli(['run', 'go', '--replay', cassette, '--turns', '2'], bench);
      const id = first.result?.thread_id ?? '';
      expect(first.code).toBe(11);
      makeRepositories(bench);
      for (const args of [['--to-turn', '1'], ['--undo']]) {
        const end = await runCli(['thread', 'rollback', id, ...args], bench);
        expect([end.code, there(bench.ws)]).toEqual([0, PLACES]);
      }
      bench.git('clone', '-q', '.', 'lib');
      const into = await runCli(['thread', 'rollback', id, '--to-turn', '1'], bench);
      expect([into.code, into.stderr]).toEqual([2, expect.stringContaining('lib is a repository now')]);
      const { stdout } = await runCli(['thread', 'show', id, '--json'], bench);
      expect(JSON.parse(stdout).rollbacks).toHaveLength(2);
      expect([existsSync(join(bench.ws, 'lib/a')), existsSync(join(bench.ws, 'lib/one.txt'))]).toEqual([true, false]);
      rmSync(join(bench.ws, 'lib'), { recursive: true });
      const end = await runCli(['resume', id, '--replay', cassette, '--turns', '20'], bench);
      expect([end.code, errorsOf(end.events), there(bench.ws)]).toEqual([0, [], PLACES]);
      expect(treeOf(bench.ws)['three.txt']).toBe('3\n');
      expect(existsSync(join(bench.root, 'state/belay/threads', id, 'replaced', end.result?.run_id ?? ''))).toBe(false);
    } finally {
      bench.remove();
    }
  }, 60_000);

  it('are moved aside with the name of the place where a killed run may have left them', async () => {
    const bench = open(CHECKS);
    try {
      const cassette = writeCassette(bench, calls);
      const id = await runAndKill(bench, ['--replay', cassette]);
      makeRepositories(bench);
      const back = await runCli(['thread', 'rollback', id, '--to-turn', '1', '--force'], bench);
      const folder = /pkg\/\.git: .* is moved to (.*)\/pkg\/\.git\n/.exec(back.stderr)?.[1] ?? back.stderr;
      expect([back.code, there(bench.ws), there(folder)]).toEqual([0, [], PLACES]);
      bench.git('worktree', 'prune');
      makeRepositories(bench);
      const last = writeCassette(bench, [{ text: 'x' }, { text: 'x' }, finish]);
      const end = await runCli(['resume', id, '--replay', last], bench);
      const kept = join(bench.root, 'state/belay/threads', id, 'replaced', end.result?.run_id ?? '');
      expect([there(bench.ws), there(kept)]).toEqual([[], PLACES]);
      const told = errorsOf(end.events).map((event) => ('message' in event ? event.message : ''));
      for (const path of ['pkg/.git', 'vendor', 'wt'])
        expect(told).toContainEqual(expect.stringContaining(`is moved to ${join(kept, path)}`));
    } finally {
      bench.remove();
    }
  }, 60_000);
});

describe('ignored files that a user made since the thread began', () => {
  const open = (policy: string) => {
    const bench = createBench({ a: 'a\n', '.gitignore': '*.env\nout/\n', 'belay.yml': `version: 1\n${policy}` });
    commitAll(bench);
    return bench;
  };
  const turns = ['echo 1 > one.txt; mkdir out; echo 1 > out/1', 'echo 2 > two.txt; mkdir -p out; echo 2 > out/2'];
  const ignoredIn = (bench: Bench) =>
    bench.git('ls-files', '-o', '-i', '--exclude-standard').split('\n').filter(Boolean);

  it.each(['', 'verify: {checks: [{name: mine, run: test -e my.env}, {name: red, run: test -e never}]}\n'])(
    'stay where a resumed run puts the workspace back, and its own go (policy: %j)',
    async (policy) => {
      const bench = open(policy);
      try {
        const cassette = writeCassette(bench, turns.map(shell));
        const first = await runCli(['run', 'go', '--replay', cassette, '--turns', '1'], bench);
        bench.write('my.env', 'mine\n');
        const id = first.result?.thread_id ?? '';
        const end = await runCli(['resume', id, '--replay', cassette, '--turns', '2'], bench);
        expect([first.code, end.code, errorsOf(end.events), ignoredIn(bench)]).toEqual([11, 11, [], ['my.env']]);
        expect(end.result?.checks.map(({ baseline }) => baseline)).toEqual(policy === '' ? [] : ['passed', 'failed']);
      } finally {
        bench.remove();
      }
    },
    60_000,
  );

  it.each([
    { policy: '', kept: ['my.env', 'out/1', 'out/2'] },
    // Before the checks; what the agent makes there later is its own, and takes the place of nothing that is kept.
    { policy: 'verify: {checks: [{name: red, run: test -e never}]}\n', kept: ['my.env', 'out/1'] },
  ])(
    'are moved aside, and told, where a killed run may have left them (policy: $policy)',
    async ({ policy, kept }) => {
      const bench = open(policy);
      try {
        const cassette = writeCassette(bench, [
          shell('mkdir out; echo 1 > out/1'),
          shell('test -e my.env || sleep 1000'),
        ]);
        const id = await runAndKill(bench, ['--replay', cassette]);
        bench.write('my.env', 'mine\n');
        const late = shell('mkdir -p out; echo 2 > out/2; echo 2 > new.env');
        // What was killed may be on record as begun (the model is told), as asked for (it is done now), or not at all.
        const last = writeCassette(bench, [{ text: 'x' }, late, late]);
        const end = await runCli(['resume', id, '--replay', last, '--turns', '3'], bench);
        const aside = join(bench.root, 'state/belay/threads', id, 'replaced', end.result?.run_id ?? '');
        expect([end.code, ignoredIn(bench), Object.keys(treeOf(aside))]).toEqual([11, [], kept]);
        const told = errorsOf(end.events);
        expect(told).toEqual([expect.objectContaining({ code: 'moved_aside' })]);
        expect(told[0]).toMatchObject({
          message: expect.stringMatching(/^my\.env, out: ignored files .* are moved to /),
        });
      } finally {
        bench.remove();
      }
    },
    60_000,
  );

  it('are moved aside before the checks where a run may have left them, as the policy says', async () => {
    const bench = open('workspace: {on_failure: keep}\nverify: {checks: [{name: red, run: test -e my.env}]}\n');
    try {
      const cassette = writeCassette(bench, turns.map(shell));
      const first = await runCli(['run', 'go', '--replay', cassette, '--turns', '1'], bench);
      expect([first.code, ignoredIn(bench)]).toEqual([11, ['out/1']]);
      bench.write('my.env', 'mine\n');
      const id = first.result?.thread_id ?? '';
      const end = await runCli(['resume', id, '--replay', cassette, '--turns', '2'], bench);
      expect([end.code, ignoredIn(bench)]).toEqual([11, ['out/2']]);
      const message = expect.stringMatching(/^my\.env, out: ignored files /);
      expect(errorsOf(end.events)).toEqual([expect.objectContaining({ code: 'moved_aside', message })]);
    } finally {
      bench.remove();
    }
  }, 60_000);
});
