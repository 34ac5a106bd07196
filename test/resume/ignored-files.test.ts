import { spawn } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Bench, CLI, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const benches: Bench[] = [];
afterAll(() => {
  for (const bench of benches) bench.remove();
});

const RUNNER = '#!/bin/sh\n# as long as the other one\ngrep -q good a.txt\n';
const FORGED = '#!/bin/sh\n# whatever is there is good\nexit 0           \n'
  .padEnd(RUNNER.length, ' ')
  .slice(0, RUNNER.length);
/** Leaves a runner that is always green, with the size and the times of the one that was there, in its place and in a folder's. */
const FORGE = [
  'r=node_modules/.bin/check',
  'cp -p $r /tmp/before',
  `printf '%s' "$FORGED" > $r`,
  'touch -r /tmp/before $r',
  'mv node_modules/lib node_modules/gone',
  'mkdir node_modules/lib && echo forged > node_modules/lib/index.js',
  'echo SECRET=agent > .env',
  'echo new > node_modules/new.js',
].join(' && ');

interface Attack {
  bench: Bench;
  cassette: string;
  /** Everything that git ignores. */
  ignored(): Record<string, string | null>;
}

function openAttack(options: { onFailure: 'restore' | 'keep'; last: string }): Attack {
  const policy = {
    version: 1,
    approvals: 'suspend',
    commands: { default: 'allow', ask: ['ln a.txt gate.txt'] },
    sandbox: { env: { set: { FORGED } } },
    workspace: { on_failure: options.onFailure, hide: [] },
    limits: { attempts: 1 },
    verify: {
      checks: [{ name: 'good', run: 'node_modules/.bin/check && cat node_modules/lib/index.js | grep -q lib' }],
    },
  };
  const bench = createBench({
    'a.txt': 'bad\n',
    '.gitignore': 'node_modules\n.env\n',
    'belay.yml': JSON.stringify(policy),
  });
  benches.push(bench);
  bench.git('add', '-A');
  bench.git('commit', '-q', '-m', 'base');
  bench.write('node_modules/.bin/check', RUNNER);
  chmodSync(join(bench.ws, 'node_modules/.bin/check'), 0o755);
  bench.write('node_modules/lib/index.js', 'lib\n');
  bench.write('.env', 'SECRET=user\n');
  const call = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command, timeout_ms: 5000 } }] });
  const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
  const cassette = writeCassette(bench, [call(FORGE), call('echo work > work.txt'), call(options.last), finish]);
  const textOf = (path: string) => {
    try {
      return bench.read(path);
    } catch {
      return null;
    }
  };
  const names = [
    'node_modules/.bin/check',
    'node_modules/lib/index.js',
    'node_modules/gone/index.js',
    'node_modules/new.js',
    '.env',
  ];
  return { bench, cassette, ignored: () => Object.fromEntries(names.map((name) => [name, textOf(name)])) };
}

const AS_BEFORE = {
  'node_modules/.bin/check': RUNNER,
  'node_modules/lib/index.js': 'lib\n',
  'node_modules/gone/index.js': null,
  'node_modules/new.js': null,
  '.env': 'SECRET=user\n',
};
const FORGERY = {
  'node_modules/.bin/check': FORGED,
  'node_modules/lib/index.js': 'forged\n',
  'node_modules/gone/index.js': 'lib\n',
  'node_modules/new.js': 'new\n',
  '.env': 'SECRET=agent\n',
};

describe('ignored files that an agent changes before its run is resumed', () => {
  it('are what they were at the end of the run that asks, and reach no clean room', async () => {
    const { bench, cassette, ignored } = openAttack({ onFailure: 'restore', last: 'ln a.txt gate.txt' });
    const one = await runCli(['run', 'make it good', '--replay', cassette], bench);
    expect(one.code).toBe(13);
    expect(ignored()).toEqual(AS_BEFORE);
    const asked = one.events.find((event) => event.type === 'approval.requested');
    const id = one.result?.thread_id ?? '';
    const two = await runCli(['resume', id, '--approve', asked?.approval_id ?? ''], bench);
    expect({ code: two.code, checks: two.result?.checks }).toMatchObject({ code: 10, checks: [{ final: 'failed' }] });
    expect(ignored()).toEqual(AS_BEFORE);
  }, 60_000);

  it('are put back where the run was killed, and what stood there is kept with the thread', async () => {
    const { bench, cassette, ignored } = openAttack({ onFailure: 'restore', last: 'sleep 1000' });
    const id = await killAt(bench, { cassette, command: 'sleep 1000' });
    expect(ignored()).toEqual(FORGERY);
    // A branch of the thread stands on the same ground.
    const fork = (await runCli(['thread', 'fork', id, '--from-turn', '2'], bench)).stdout.trim();
    const two = await runCli(['resume', fork, '--replay', cassette], bench);
    expect({ code: two.code, checks: two.result?.checks }).toMatchObject({
      code: 10,
      checks: [{ baseline: 'failed', final: 'failed' }],
    });
    expect(ignored()).toEqual(AS_BEFORE);
    const replaced = join(bench.root, 'state/belay/threads', fork, 'replaced', two.result?.run_id ?? '');
    expect(readFileSync(join(replaced, '.env'), 'utf8')).toBe('SECRET=agent\n');
    expect(readFileSync(join(replaced, 'node_modules/lib/index.js'), 'utf8')).toBe('forged\n');
  }, 60_000);

  it('are put back before a resumed run where the policy keeps a change that is not verified', async () => {
    const { bench, cassette, ignored } = openAttack({ onFailure: 'keep', last: 'ln a.txt gate.txt' });
    const one = await runCli(['run', 'make it good', '--replay', cassette], bench);
    expect(one.code).toBe(13);
    expect(ignored()).toEqual(FORGERY);
    const asked = one.events.find((event) => event.type === 'approval.requested');
    const two = await runCli(['resume', one.result?.thread_id ?? '', '--deny', asked?.approval_id ?? ''], bench);
    expect({ code: two.code, checks: two.result?.checks }).toMatchObject({
      code: 10,
      checks: [{ baseline: 'failed', final: 'failed' }],
    });
    expect(ignored()).toEqual(AS_BEFORE);
  }, 60_000);
});

describe('ignored files of a run without checks', () => {
  it('stay as the agent left them, but for new ones, and what setup made is ignored whatever the agent does to the rules', async () => {
    const policy = {
      version: 1,
      limits: { turns: 1 },
      setup: [{ run: 'mkdir deps && echo lib > deps/lib' }],
      workspace: { hide: [] },
      verify: { checks: [] },
    };
    const bench = createBench({ 'belay.yml': JSON.stringify(policy), '.gitignore': 'deps\n.env\n*.log\n' });
    benches.push(bench);
    bench.git('add', '-A');
    bench.git('commit', '-q', '-m', 'base');
    bench.write('.env', 'mine\n');
    const command =
      'echo work > work.txt; echo bad > deps/bad; echo agent > .env; echo > new.log; sed -i /deps/d .gitignore';
    const cassette = writeCassette(bench, [{ tool_calls: [{ name: 'shell', input: { command } }] }]);
    const { result } = await runCli(['run', 'go', '--replay', cassette], bench);
    expect({ outcome: result?.outcome, files: result?.changes.files.map(({ path }) => path) }).toEqual({
      outcome: 'limit_reached',
      files: ['.gitignore', 'work.txt'],
    });
    expect(treeOf(bench.ws)).toEqual({
      '.env': 'agent\n',
      '.gitignore': 'deps\n.env\n*.log\n',
      'belay.yml': JSON.stringify(policy),
      'deps/bad': 'bad\n',
      'deps/lib': 'lib\n',
    });
  }, 30_000);
});

/** Runs until the command is told, which may be just before it begins, and kills belay; returns the thread's id. */
function killAt(bench: Bench, { cassette, command }: { cassette: string; command: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, 'run', 'make it good', '--replay', cassette], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes(`"item.started"`) && text.includes(JSON.stringify(command).slice(1, -1))) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', () => {
      const id = /"thread_id":"(t_\w+)"/.exec(text)?.[1];
      if (id === undefined) reject(new Error(text));
      else resolve(id);
    });
  });
}
