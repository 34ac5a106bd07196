import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

const POLICY = 'version: 1\nlimits: {attempts: 1}\nverify:\n  checks:\n    - {name: tests, run: sh test.sh}\n';
const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const shell = (command: string) => answer('shell', { command });
const finish = answer('finish', { status: 'done', summary: 'done' });
let bench: Bench;
let cassette: string;
beforeEach(() => {
  bench = createBench({ 'belay.yml': POLICY, 'test.sh': 'grep -q good state\n', state: 'bad\n' });
  cassette = join(bench.io, 'model.jsonl');
});
afterEach(() => bench.remove());

async function run(answers: string) {
  writeFileSync(cassette, answers);
  const patch = join(bench.io, 'change.patch');
  const end = await runCli(['run', 'go', '--replay', cassette, '--patch', patch], bench);
  return { ...end, patch, outcome: end.result?.outcome, paths: end.result?.changes.files.map(({ path }) => path) };
}

const isCaseSensitive = process.platform !== 'darwin' && process.platform !== 'win32';

describe('a tree', () => {
  it.skipIf(!isCaseSensitive)('with names that differ in case only works, and each keeps its own content', async () => {
    for (const [path, text] of [
      ['Read', '1\n'],
      ['read', '2\n'],
      ['Dir/x', '3\n'],
      ['dir/x', '4\n'],
    ] as const)
      bench.write(path, text);
    commitAll(bench);
    const right = await run(shell('echo good > state; echo 5 > read; echo 6 > DIR; rm Dir/x') + finish);
    expect(right).toMatchObject({ code: 0, outcome: 'verified', paths: ['DIR', 'Dir/x', 'read', 'state'] });
    expect(['Read', 'read', 'DIR', 'dir/x'].map((path) => bench.read(path))).toEqual(['1\n', '5\n', '6\n', '4\n']);
    bench.git('stash', '-q', '-u');
    bench.git('apply', '--check', right.patch);
    const wrong = await run(shell('echo 7 > Read; echo 8 > read; echo 9 > dir/X') + finish);
    expect(wrong.code).toBe(10);
    expect(bench.git('status', '--porcelain')).toBe('');
  });

  it.skipIf(process.platform !== 'linux')(
    'with a name that is not UTF-8 is refused by that name, before anything runs',
    async () => {
      const odd = Buffer.concat([Buffer.from(`${bench.ws}/bad-`), Buffer.from([0xff])]);
      writeFileSync(odd, 'x\n');
      commitAll(bench);
      const end = await run(shell('echo good > state') + finish);
      expect({ code: end.code, outcome: end.outcome, turns: end.result?.limits.turns.used }).toEqual({
        code: 2,
        outcome: 'usage_error',
        turns: 0,
      });
      expect(end.result?.reason).toContain('bad-\\xff');
      expect(readFileSync(odd, 'utf8')).toBe('x\n');
    },
  );

  const MADE = 'mkdir -p "$(printf \'d/\\377\')"; echo x > "$(printf \'d/\\377/y\')"; touch "$(printf \'bad-\\376\')"';

  it.skipIf(process.platform !== 'linux')('that an agent gives names that are not UTF-8 is put back', async () => {
    commitAll(bench);
    const end = await run(shell(`echo good > state; ${MADE}`) + finish);
    expect(end).toMatchObject({ code: 12, outcome: 'policy_violation', paths: ['state'] });
    expect(end.result?.reason).toContain('is not UTF-8');
    expect(readFileSync(end.patch, 'utf8')).toContain('+good');
    expect(bench.git('status', '--porcelain', '--ignored')).toBe('');
  });

  const odd = (check: string, more = '') =>
    `version: 1\nlimits: {attempts: 1}\n${more}verify:\n  checks:\n    - {name: tests, run: ${JSON.stringify(check)}}\n`;

  it.skipIf(process.platform !== 'linux')(
    'in which checks leave names that are not UTF-8 is judged all the same',
    async () => {
      bench.write('belay.yml', odd(`${MADE}; sh test.sh`));
      commitAll(bench);
      const end = await run(shell('echo good > state') + finish);
      expect(end).toMatchObject({ code: 0, outcome: 'verified', paths: ['state'] });
      expect(readdirSync(bench.ws).sort()).toEqual(['.git', 'belay.yml', 'state', 'test.sh']);
      expect((await runCli(['verify'], bench)).code).toBe(0);
      expect(bench.git('status', '--porcelain', '--ignored')).toBe(' M state\n');
    },
  );

  it.skipIf(process.platform !== 'linux')('that setup gives such names ends by setup, and is put back', async () => {
    bench.write('belay.yml', odd('sh test.sh', `setup: [{run: ${JSON.stringify(MADE)}}]\n`));
    commitAll(bench);
    const end = await run(shell('echo good > state') + finish);
    expect(end).toMatchObject({ code: 22, outcome: 'setup_failed' });
    expect(end.result?.reason).toContain('bad-\\xfe');
    expect(bench.git('status', '--porcelain', '--ignored')).toBe('');
  });

  it.skipIf(process.platform !== 'linux')(
    'with such names in a folder that is ignored works, as the refusal of others says',
    async () => {
      bench.write('.gitignore', 'kept/\n');
      execFileSync('sh', ['-c', `mkdir kept && cd kept && ${MADE}`], { cwd: bench.ws });
      bench.git('add', '.');
      bench.git('commit', '-q', '-m', 'base');
      const end = await run(shell('echo good > state') + finish);
      expect(end).toMatchObject({ code: 0, outcome: 'verified', paths: ['state'] });
      expect(
        readdirSync(join(bench.ws, 'kept'), 'buffer')
          .map((name) => name.toString('latin1'))
          .sort(),
      ).toEqual(['bad-\xfe', 'd']);
      execFileSync('sh', ['-c', 'touch "$(printf "a-\\377")"; echo "a-*" > .gitignore; rm -r kept'], { cwd: bench.ws });
      const alone = await run(finish);
      expect(alone.result?.reason).toBe(
        'the file name "a-\\xff" is not UTF-8: rename it, or keep it in a folder that .gitignore names',
      );
    },
  );

  it.skipIf(process.geteuid?.() !== 0)(
    'of another owner than belay, and a HOME, may hold pipes and files of any name',
    async () => {
      const left = `mkfifo "$(printf 'p-\\376')"; mkdir -p "$(printf 'ro-\\376/in')"; chmod 555 ro-*`;
      const setup = `setup: [{run: ${JSON.stringify(`cd; mkfifo p; touch "$(printf 'b-\\376')"; mkdir -m 555 ro`)}}]\n`;
      bench.write('belay.yml', odd(`test -p ~/p && ! [ -p p-* ] && ${left}; sh test.sh`, setup));
      bench.write('.gitignore', 'kept/\n');
      const own = `mkdir kept "$(printf 'own-\\376')" && cd kept && ${MADE}`;
      execFileSync('sh', ['-c', own], { cwd: bench.ws });
      bench.git('add', '.');
      bench.git('commit', '-q', '-m', 'base');
      execFileSync('chown', ['-R', '1001:1001', bench.ws]);
      bench.env['GIT_CONFIG_COUNT'] = '1';
      bench.env['GIT_CONFIG_KEY_0'] = 'safe.directory';
      bench.env['GIT_CONFIG_VALUE_0'] = '*';
      const wrong = await run(shell('echo worse > state') + finish);
      expect(wrong).toMatchObject({ code: 10, outcome: 'unverified' });
      const names = ['.git', '.gitignore', 'belay.yml', 'kept', 'own-\xfe', 'state', 'test.sh'];
      expect(readdirSync(bench.ws, 'latin1').sort()).toEqual(names);
      expect(await run(shell('echo good > state') + finish)).toMatchObject({ code: 0, outcome: 'verified' });
      expect(readdirSync(bench.ws, 'latin1').sort()).toEqual(names);
    },
  );

  it.skipIf(process.geteuid?.() !== 0)('in which an agent closes folders and files is put back', async () => {
    bench.remove();
    bench = createBench({ 'belay.yml': POLICY, 'test.sh': 'grep -q good state\n', state: 'bad\n', 'd/x': 'x\n' }, 1001);
    cassette = join(bench.io, 'model.jsonl');
    commitAll(bench);
    const closed = 'echo good > state; mkdir -p n/m; echo y > n/m/y; chmod 000 n/m n d; touch z; chmod 000 z';
    const end = await run(shell(closed) + finish);
    expect(end).toMatchObject({ code: 12, outcome: 'policy_violation' });
    expect(end.result?.reason).toContain('cannot be read');
    expect(bench.read('d/x') + bench.read('state')).toBe('x\nbad\n');
    expect(readdirSync(bench.ws).sort()).toEqual(['.git', 'belay.yml', 'd', 'state', 'test.sh']);
  });

  it('of 50,000 files works, and the change is the change', async () => {
    const base = commitAll(bench);
    const files = Array.from({ length: 50_000 }, (_, at) => {
      const content = `${at}\n`;
      return `M 100644 inline src/${at % 26}/${at}\ndata ${content.length}\n${content}`;
    });
    const head = `commit refs/heads/main\ncommitter a <a@example.org> 0 +0000\ndata 0\nfrom ${base}\n`;
    // One pack: an object of its own for each file would take longer than what is tested.
    execFileSync('git', ['fast-import', '--quiet'], { cwd: bench.ws, env: bench.env, input: head + files.join('') });
    bench.git('reset', '-q', '--hard');
    const right = await run(shell('echo good > state; echo x > src/1/27') + finish);
    expect(right).toMatchObject({ code: 0, outcome: 'verified', paths: ['src/1/27', 'state'] });
    expect(bench.git('status', '--porcelain')).toBe(' M src/1/27\n M state\n');
  }, 120_000);
});
