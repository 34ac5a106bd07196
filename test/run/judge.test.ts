import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readEvents } from '../../src/events/index.ts';
import { auditEvents } from '../../src/thread/index.ts';
import { type Bench, CLI, commitAll, createBench, runCli, treeOf } from '../scenario.ts';

const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const finish = answer('finish', { status: 'done', summary: 'done' });
const shell = (command: string) => answer('shell', { command });
let bench: Bench;
afterEach(() => bench.remove());

function layOut(policy: object, files: Record<string, string>): string {
  bench = createBench({ ...files, 'belay.yml': JSON.stringify({ version: 1, limits: { attempts: 1 }, ...policy }) });
  commitAll(bench);
  return join(bench.io, 'model.jsonl');
}
async function run(answers: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const cassette = join(bench.io, 'model.jsonl');
  writeFileSync(cassette, answers);
  return runCli(['run', 'go', '--replay', cassette, ...args], bench, { env });
}
const PACKAGE = { name: 'x', version: '1.0.0', scripts: { test: 'sh test.sh' } };
const NPM = { 'package.json': JSON.stringify(PACKAGE), 'test.sh': 'grep -q good a.txt\n', 'a.txt': 'bad\n' };
const CHECK = { verify: { checks: [{ name: 'tests', run: 'npm test' }], require: 'fixed' } };

describe('a script that judges', () => {
  it('cannot be replaced to get a green verdict', async () => {
    layOut(CHECK, NPM);
    const end = await run(
      shell(`echo '${JSON.stringify({ ...PACKAGE, scripts: { test: 'true' } })}' > package.json`) + finish,
    );
    expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 10, outcome: 'unverified' });
  });

  it('does not stand in the way of a change to the rest of its manifest', async () => {
    layOut(CHECK, NPM);
    const end = await run(
      shell(`echo good > a.txt; echo '${JSON.stringify({ ...PACKAGE, version: '1.0.1' })}' > package.json`) + finish,
    );
    expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 0, outcome: 'verified' });
  });
});

describe('code that a check runs', () => {
  it('cannot write over what the next check reads, and a service that ran beside it begins anew', async () => {
    const service = { name: 'web', run: 'touch up; sleep 600', ready: 'test -f up', phases: ['verify'] };
    const checks = [
      { name: 'app', run: 'sh app.sh' },
      { name: 'tests', run: 'sh test.sh' },
    ];
    layOut({ services: [service], verify: { checks, flaky_retries: 0 } }, { ...NPM, 'app.sh': 'exit 0\n' });
    const end = await run(shell('echo "echo exit 0 > test.sh" > app.sh') + finish);
    expect({ code: end.code, reason: end.result?.reason }).toEqual({
      code: 10,
      reason: 'check tests ended with exit status 1 (what checks before it changed was put back: test.sh) (clean room)',
    });
    const inRoom = end.events.flatMap((event) =>
      event.type === 'item.started' && event.phase === 'clean_room' && 'name' in event.item ? [event.item.name] : [],
    );
    // The service has seen the files that were written over: it begins anew.
    expect(inRoom).toEqual(['web', 'app', 'web', 'tests']);

    bench.write('app.sh', 'echo exit 0 > test.sh\n');
    const verified = await runCli(['verify'], bench);
    expect({ code: verified.code, outcome: verified.result?.outcome }).toEqual({ code: 10, outcome: 'unverified' });
    expect(bench.read('test.sh')).toBe(NPM['test.sh']);
  });
});

describe('a patch', () => {
  it('that does not give the checked tree on its base is never verified, and the workspace is put back', async () => {
    layOut({ verify: { checks: [{ name: 'c', run: 'grep -q good a.txt' }] } }, { 'a.txt': 'bad\n' });
    // A git whose patches say something else than its trees.
    bench.write(
      '../bin/git',
      `#!/bin/sh\nPATH=\${PATH#*:}\ncase " $* " in *' diff-tree '*' --binary '*) git "$@" | sed 's/^+good/+evil/' ;; *) exec git "$@" ;; esac\n`,
    );
    chmodSync(join(bench.root, 'bin/git'), 0o755);
    const env = { PATH: `${join(bench.root, 'bin')}:${process.env['PATH']}` };
    const end = await run(shell('echo good > a.txt') + finish, [], env);
    expect(end.result).toMatchObject({
      exit_code: 10,
      outcome: 'unverified',
      verified: false,
      reason: 'the patch does not give the verified tree on a fresh checkout of its base',
      changes: { restored: true },
    });
    expect(readFileSync(end.result?.changes.patch ?? '', 'utf8')).toContain('+evil');
    expect(bench.read('a.txt')).toBe('bad\n');
  });
});

describe('files that the run itself writes into the workspace', () => {
  it('are no part of the change, and survive it', async () => {
    const cassette = layOut(
      { workspace: { write: ['a.txt'] }, verify: { checks: [{ name: 'c', run: 'grep -q good a.txt' }] } },
      { 'a.txt': 'bad\n' },
    );
    writeFileSync(cassette, shell('echo good > a.txt; echo forged >> events.jsonl; echo forged >> out.jsonl') + finish);
    const command =
      '"$0" "$1" run go --replay "$2" --events events.jsonl --result result.json --patch change.patch > out.jsonl';
    execFileSync('sh', ['-c', command, process.execPath, CLI, cassette], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const name of ['events.jsonl', 'out.jsonl']) {
      expect(await auditEvents(readEvents(join(bench.ws, name)))).toMatchObject({ ok: true, outcome: 'verified' });
    }
    const result = JSON.parse(readFileSync(join(bench.ws, 'result.json'), 'utf8'));
    expect(result.changes.files.map((file: { path: string }) => file.path)).toEqual(['a.txt']);
  });

  it('never lead out of it, nor wait, whatever the agent put in their place', async () => {
    layOut({ verify: { checks: [] } }, { 'a.txt': 'a\n' });
    const outside = join(bench.root, 'outside');
    mkdirSync(outside);
    mkdirSync(join(bench.ws, 'out'));
    writeFileSync(join(outside, 'profile'), 'mine\n');
    const plant = `ln -s ${outside}/profile last.txt; mkfifo change.patch; rmdir out; ln -s ${outside} out`;
    const files = ['--message', 'last.txt', '--patch', 'change.patch', '--result', 'out/result.json'];
    const end = await run(shell(`echo b > b.txt; ${plant}`) + finish, files);
    expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 1, outcome: 'unchecked' });
    expect(end.stderr).toContain('a folder on the way to it was replaced during the run');
    expect(treeOf(outside)).toEqual({ profile: 'mine\n' });
    expect(bench.read('last.txt')).toBe('done\n');
    expect(bench.read('change.patch')).toContain('+++ b/b.txt');
  });

  it('that cannot be written are refused before the run, or told and nothing else', async () => {
    layOut({ verify: { checks: [] } }, { 'a.txt': 'a\n' });
    const before = treeOf(bench.ws);
    mkdirSync(join(bench.io, 'folder'));
    for (const option of ['--patch', '--result', '--message']) {
      const end = await run(shell('echo b > b.txt') + finish, [option, join(bench.io, 'folder')]);
      expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 2, outcome: 'usage_error' });
    }
    const noFolder = await run(finish, ['--events', join(bench.io, 'none/x.jsonl')]);
    expect({ code: noFolder.code, last: noFolder.events.at(-1)?.type }).toEqual({ code: 2, last: 'run.completed' });
    expect(treeOf(bench.ws)).toEqual(before);
  });
});

describe('a delivered file that is changed in the same second, its size and times put back', () => {
  const write = (path: string, text: string) => `printf '${text}\\n' > ${path}; touch -d 2001-01-01 ${path}`;
  const judged = (last: Awaited<ReturnType<typeof run>>) => {
    bench.git('add', '-A');
    return {
      lib: bench.read('lib'),
      isJudged: bench.git('write-tree').trim() === last.result?.changes.tree,
      patched: /^\+(.*)$/m.exec(readFileSync(join(bench.io, 'change.patch'), 'utf8').split('lib\n').at(-1) ?? '')?.[1],
      outcome: last.result?.outcome,
    };
  };
  const DELIVERED = { lib: 'bbbb\n', isJudged: true, patched: 'bbbb', outcome: 'verified' };

  it('is what was judged, whatever setup, a check in the workspace or the next turn did', async () => {
    const check = { name: 'c', run: `grep -q . lib; ${write('lib', 'cccc')}; grep -q good state` };
    layOut({ setup: [{ run: write('lib', 'ssss') }], verify: { checks: [check] } }, { lib: 'aaaa\n', state: 'bad\n' });
    const turns = ['ffff', 'gggg', 'bbbb'].map((text) => shell(write('lib', text))).join('');
    const end = await run(turns + shell('echo good > state') + finish, ['--patch', join(bench.io, 'change.patch')]);
    expect(judged(end)).toEqual(DELIVERED);
  });

  it('is what was judged also where a check without a fence reaches it from the clean room, which is told', async () => {
    layOut({}, { lib: 'aaaa\n' });
    const check = { name: 'c', run: `${write(join(bench.ws, 'lib'), 'cccc')}; grep -q bbbb lib`, when: 'final' };
    bench.write(
      'belay.yml',
      JSON.stringify({ version: 1, sandbox: { mode: 'off' }, verify: { checks: [check] }, limits: { attempts: 1 } }),
    );
    commitAll(bench);
    const late = (end: Awaited<ReturnType<typeof run>>) => {
      const told = end.events.find((event) => event.type === 'error' && event.code === 'changed_late');
      const message = told?.type === 'error' ? told.message : '';
      const file = / after it was judged: lib; that is taken back, and is kept as (.*)$/.exec(message)?.[1] ?? '';
      return /^\+(\w+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
    };
    const red = await run(shell(write('lib', 'dddd')) + finish);
    expect([red.code, late(red), bench.read('lib')]).toEqual([10, 'cccc', 'aaaa\n']);
    const end = await run(shell(write('lib', 'bbbb')) + finish, ['--patch', join(bench.io, 'change.patch')]);
    expect([judged(end), late(end)]).toEqual([DELIVERED, 'cccc']);
  });
});
