import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSite, type Site } from './rounds-support.ts';
import { checkOf, openSandbox, tempFolder, verifyOf } from './support.ts';

const probeFolder = tempFolder();
const fenced = await openSandbox('workspace-write', probeFolder.dir);
if (typeof fenced !== 'string') await fenced.close();
probeFolder.dispose();

let site: Site | null = null;
const open = async (...args: Parameters<typeof openSite>): Promise<Site> => {
  site = await openSite(...args);
  return site;
};
afterEach(async () => {
  await site?.dispose();
  site = null;
});
const statuses = (round: { status: string; runs: readonly { name: string; status: string }[] }) => [
  round.status,
  ...round.runs.map(({ name, status }) => `${name} ${status}`),
];

for (const mode of ['off', 'workspace-write'] as const) {
  describe.skipIf(mode === 'workspace-write' && typeof fenced === 'string')(
    `final-round with sandbox.mode ${mode}`,
    () => {
      it('sees the tree and the patch, and nothing else that the agent left', async () => {
        const s = await open({ '.gitignore': 'cache/\n', 'a.txt': 'old\n' }, mode);
        const verify = verifyOf([checkOf('grep -q new a.txt && test -f b.txt && ! test -e cache')]);
        const rooms = await s.rooms(verify);
        s.write({ 'a.txt': 'new\n', 'b.txt': 'b\n', 'cache/green': 'x' });
        const bench = s.bench();
        const round = await s.final(verify, { rooms, bench });
        expect(statuses(round)).toEqual(['passed', 'tests passed']);
        expect(round.tree).toBe(await s.workspace.snapshot());
        expect(bench.events.filter((event) => event.type.startsWith('verification.'))).toEqual([
          { type: 'verification.started', attempt: 1, clean_room: true },
          {
            type: 'verification.completed',
            attempt: 1,
            clean_room: true,
            passed: true,
            checks: [{ name: 'tests', required: true, passed: true, exit_code: 0, flaky: false }],
          },
        ]);
        expect(bench.events.flatMap((event) => (event.type === 'item.started' ? [event.phase] : []))).toEqual([
          'clean_room',
        ]);
      });

      it('leaves neither the room nor a trace in the workspace', async () => {
        const s = await open({ 'a.txt': 'a\n' }, mode);
        const verify = verifyOf([checkOf('echo changed > a.txt; mkdir -p x/y; touch x/y/z; chmod 500 x/y; false')]);
        const round = await s.final(verify, {});
        expect(statuses(round)).toEqual(['failed', 'tests failed']);
        expect(readdirSync(s.scratch)).toEqual([]);
        expect([readFileSync(s.path('a.txt'), 'utf8'), existsSync(s.path('x'))]).toEqual(['a\n', false]);
      });

      it('carries ignored files as they were before the agent', async () => {
        const s = await open({ '.gitignore': 'deps/\nother/\n', 'a.txt': 'a\n' }, mode);
        s.write({ 'deps/lib.txt': 'good\n', 'other/x': 'x' });
        const all = verifyOf([checkOf('test "$(cat deps/lib.txt)" = good && test -f other/x && ! test -e deps/more')]);
        const some = verifyOf([checkOf('test "$(cat deps/lib.txt)" = good && ! test -e other')], {
          cleanRoom: { carry: ['deps'], freeze: [], pristineTests: true },
        });
        const rooms = await s.rooms(all);
        s.write({ 'deps/lib.txt': 'evil\n', 'deps/more': 'x' });
        expect(statuses(await s.final(all, { rooms }))).toEqual(['passed', 'tests passed']);
        s.write({ 'deps/lib.txt': 'good\n' });
        rmSync(s.path('deps/more'));
        expect(statuses(await s.final(some, {}))).toEqual(['passed', 'tests passed']);
      });

      it('shows frozen paths, also where setup has to run again', async () => {
        const s = await open({ '.gitignore': 'deps/\n', 'a.txt': 'a\n', 'package.json': '{}\n' }, mode);
        s.write({ 'deps/lib.txt': 'good\n' });
        const verify = verifyOf([checkOf('cat deps/lib.txt; test -s deps/lib.txt')], {
          cleanRoom: { carry: 'auto', freeze: ['deps'], pristineTests: true },
        });
        const frozen = await s.final(verify, {});
        let ran = 0;
        const rooms = await s.rooms(verify, {
          runSetup: async (place, signal) => {
            const bench = s.bench();
            const home = await bench.ports.openHome();
            const script = 'echo again >> deps/lib.txt';
            const end = await s.sandbox.run(
              {
                script,
                workdir: place.dir,
                env: {},
                mounts: place.mounts,
                home: home.dir,
                network: { mode: 'none' },
                timeoutMs: 10_000,
                onOutput: () => {},
              },
              signal,
            );
            ran++;
            return end.exitCode === 0 ? { kind: 'done' } : { kind: 'failed', reason: script };
          },
        });
        s.write({ 'package.json': '{"name": "x"}\n' });
        const again = await s.final(verify, { rooms });
        expect([frozen.runs[0]?.output?.text, again.runs[0]?.output?.text, ran]).toEqual([
          'good\n',
          'good\nagain\n',
          1,
        ]);
        expect(readFileSync(s.path('deps/lib.txt'), 'utf8')).toBe('good\n');
      });

      it('fails a change with which setup no longer works', async () => {
        const s = await open({ 'package.json': '{}\n' }, mode);
        const verify = verifyOf([checkOf('true')]);
        const rooms = await s.rooms(verify, {
          runSetup: async () => ({ kind: 'failed', reason: 'npm ci ended with exit code 1' }),
        });
        s.write({ 'package.json': '{"name": "x"}\n' });
        const round = await s.final(verify, { rooms });
        expect([round.status, round.reason, round.runs]).toEqual([
          'failed',
          'setup fails in the clean room: npm ci ended with exit code 1',
          [],
        ]);
        expect(readdirSync(s.scratch)).toEqual([]);
      });

      it('runs a second pass with the test files of the base when the change touches them', async () => {
        const s = await open({ 'test/check.sh': 'test "$(cat a.txt)" = 5\n', 'a.txt': '6\n' }, mode);
        const verify = verifyOf([checkOf('sh test/check.sh')]);
        s.write({ 'test/check.sh': 'exit 0\n' });
        const bench = s.bench();
        const cheated = await s.final(verify, { bench });
        expect([...statuses(cheated), cheated.reason]).toEqual([
          'failed',
          'tests failed',
          'check tests ended with exit status 1 once the test files are put back as they were',
        ]);
        expect(bench.items().map((item) => item.passed)).toEqual([true, false]);
        expect(bench.events.filter((event) => event.type === 'verification.started')).toHaveLength(1);
        const once = verifyOf(verify.checks, { cleanRoom: { ...verify.cleanRoom, pristineTests: false } });
        expect(statuses(await s.final(once, {}))).toEqual(['passed', 'tests passed']);
        s.write({ 'a.txt': '5\n', 'test/check.sh': '# more\ntest "$(cat a.txt)" = 5\n' });
        const honest = s.bench();
        expect(statuses(await s.final(verify, { bench: honest }))).toEqual(['passed', 'tests passed']);
        expect(honest.items()).toHaveLength(2);
      });

      it('takes added configs out of the second pass and leaves added tests in', async () => {
        const s = await open({ 'a.txt': 'a\n', 'test/old.sh': 'true\n' }, mode);
        s.write({ 'conftest.py': 'x\n', 'test/new.sh': 'true\n', 'test/old.sh': '# changed\ntrue\n' });
        const bench = s.bench();
        await s.final(verifyOf([checkOf('ls conftest.py test; head -1 test/old.sh')]), { bench });
        const printed = bench
          .items()
          .map((item) => item.aggregated_output.split('\n').filter((line) => /^(conftest|new|old|#|true)/.test(line)));
        expect(printed).toEqual([
          ['conftest.py', 'new.sh', 'old.sh', '# changed'],
          ['new.sh', 'old.sh', 'true'],
        ]);
      });

      it('lays hidden files over the room alone, replaces links on the way, and tells nobody the output', async () => {
        const hidden = tempFolder({ 'sub/secret.sh': 'echo want 42; test "$(cat a.txt)" = 42\n' });
        const outside = tempFolder();
        const s = await open(
          { 'a.txt': '1\n', 'check.sh': 'test ! -f held/sub/secret.sh || sh held/sub/secret.sh\n' },
          mode,
        );
        const verify = verifyOf([checkOf('sh check.sh')], { holdout: [{ from: hidden.dir, to: 'held' }] });
        symlinkSync(outside.dir, s.path('held'));
        const bench = s.bench();
        const round = await s.final(verify, { bench });
        expect(statuses(round)).toEqual(['failed', 'tests failed']);
        expect(JSON.stringify([bench.events, round])).not.toMatch(/want/);
        expect(round.runs.map(({ output, exitCode }) => [output, exitCode])).toEqual([[null, 1]]);
        expect([readdirSync(outside.dir), readdirSync(s.scratch)]).toEqual([[], []]);
        s.write({ 'a.txt': '42\n' });
        expect(statuses(await s.final(verify, {}))).toEqual(['passed', 'tests passed']);
        hidden.dispose();
        outside.dispose();
      });

      it('counts a check that fails and then passes as flaky, when nothing of its first run is left', async () => {
        const s = await open({ '.gitignore': 'seen\n', 'a.txt': 'a\n' }, mode);
        const turns = (): Partial<Parameters<typeof s.final>[1]> => {
          const bench = s.bench();
          let runs = 0;
          return { bench: { ...bench, ports: { ...bench.ports, environment: () => ({ RUN: `${++runs}` }) } } };
        };
        const first = checkOf('test "$RUN" != 4 || touch built', { name: 'first' });
        const check = checkOf('test "$RUN" = 3 || { test "$RUN" = 5 && test -f built; }');
        const round = await s.final(verifyOf([first, check], { flakyRetries: 1 }), turns());
        expect([round.status, round.runs.map(({ name, status, flaky }) => [name, status, flaky])]).toEqual([
          'passed',
          [
            ['first', 'passed', false],
            ['tests', 'passed', true],
          ],
        ]);
        const tampering = checkOf('test -f seen || { touch seen; echo good > a.txt; exit 1; }');
        expect(statuses(await s.final(verifyOf([tampering], { flakyRetries: 1 }), {}))).toEqual([
          'failed',
          'tests failed',
        ]);
      });

      it('is not green where what should confirm a second try was cut short, or had no room', async () => {
        const s = await open({ 'a.txt': 'a\n', 'test/a.test.js': '1\n' }, mode);
        const counted = (at: number, act: () => void) => {
          const bench = s.bench();
          let runs = 0;
          const environment = () => {
            if (++runs === at) act();
            return { RUN: `${runs}` };
          };
          return { ...bench, ports: { ...bench.ports, environment } };
        };
        const controller = new AbortController();
        const wobbly = checkOf('test "$RUN" = 3', { name: 'wobbly' });
        const cut = await s.final(verifyOf([checkOf('true'), wobbly], { flakyRetries: 1 }), {
          bench: counted(4, () => controller.abort()),
          signal: controller.signal,
        });
        expect([cut.status, cut.runs.map(({ name, status }) => [name, status])]).toEqual([
          'cancelled',
          [
            ['tests', 'passed'],
            ['wobbly', 'passed'],
          ],
        ]);

        s.write({ 'test/a.test.js': '2\n' });
        const verify = verifyOf([checkOf('test "$RUN" != 2')], { flakyRetries: 1 });
        const real = await s.rooms(verify);
        let opened = 0;
        const rooms: typeof real = {
          open: async (...asked) => (++opened === 3 ? { kind: 'refused', reason: 'no room' } : real.open(...asked)),
        };
        const lost = await s.final(verify, { rooms, bench: counted(0, () => undefined) });
        expect([lost.status, lost.reason, opened]).toEqual(['failed', 'no room', 3]);
        expect(readdirSync(s.scratch)).toEqual([]);
      });

      it('shows each check the judged files, whatever those before it wrote over them, and what they built', async () => {
        const hidden = tempFolder({ 'secret.sh': 'exit 3\n' });
        const base = { 'test/a.sh': 'exit 1\n', 'src/b.txt': 'b\n', 'run.sh': 'exit 0\n', 'old/c.txt': 'c\n' };
        const s = await open({ '.gitignore': 'out/\n', ...base }, mode);
        // The same length, and the time put back: git alone would not see it within a second.
        const touch = 'touch -d 2001-01-01 test/a.sh';
        const write = `printf "exit 0\\n" > test/a.sh; ${touch}`;
        const more = 'rm src/b.txt; mkdir src/b.txt; chmod +x run.sh; mv old out; ln -s out old; echo new > built.txt';
        const tamper = checkOf(`${write}; mkdir -p out; ${more}`, { name: 'build' });
        const look = checkOf('test ! -L old && ! test -x run.sh && cat src/b.txt old/c.txt built.txt && ls out', {
          name: 'look',
        });
        const checks = [checkOf(touch, { name: 'touch' }), tamper, look, checkOf('sh test/a.sh')];
        const round = await s.final(verifyOf(checks), {});
        expect(round.runs.map(({ name, status, output }) => [name, status, output?.text])).toEqual([
          ['touch', 'passed', ''],
          ['build', 'passed', ''],
          ['look', 'passed', 'b\nc\nnew\nold\n'],
          ['tests', 'failed', ''],
        ]);
        expect(round.reason).toBe('check tests ended with exit status 1');

        const held = verifyOf(
          [checkOf('echo exit 0 > held/secret.sh'), checkOf('sh held/secret.sh', { name: 'held' })],
          {
            holdout: [{ from: hidden.dir, to: 'held' }],
          },
        );
        expect(statuses(await s.final(held, {}))).toEqual(['failed', 'tests passed', 'held failed']);
        hidden.dispose();
      });

      it('says which files a check that fails had otherwise, and judges none on what setup wrote over the tree', async () => {
        const s = await open({ 'package.json': '{}\n', 'a.txt': 'bad\n' }, mode);
        const runSetup = async () => {
          writeFileSync(path.join(s.scratch, readdirSync(s.scratch)[0] ?? '', 'tree/a.txt'), 'good\n');
          return { kind: 'done' } as const;
        };
        const verify = verifyOf([checkOf('echo good > a.txt'), checkOf('grep -q good a.txt', { name: 'second' })]);
        expect((await s.final(verify, {})).reason).toBe(
          'check second ended with exit status 1 (what checks before it changed was put back: a.txt)',
        );
        s.write({ 'package.json': '{"name": "x"}\n' });
        const rooms = await s.rooms(verify, { runSetup });
        expect(statuses(await s.final(verifyOf([checkOf('grep -q good a.txt')]), { rooms }))).toEqual([
          'failed',
          'tests failed',
        ]);
      });

      it('runs the checks of the loop again that are required, or for a tree that they did not see', async () => {
        const s = await open({ 'a.txt': 'a\n' }, mode);
        const verify = verifyOf([
          checkOf('true', { name: 'fast', when: 'attempt', required: false }),
          checkOf('true', { name: 'quick', when: 'attempt' }),
          checkOf('true', { name: 'slow', when: 'final' }),
        ]);
        expect(statuses(await s.final(verify, {}))).toEqual(['passed', 'quick passed', 'slow passed']);
        expect(statuses(await s.final(verify, { attempted: null }))).toEqual([
          'passed',
          'fast passed',
          'quick passed',
          'slow passed',
        ]);
      });

      it('ends at the signal with every item closed and the room gone', async () => {
        const s = await open({ 'a.txt': 'a\n' }, mode);
        const controller = new AbortController();
        const bench = s.bench();
        const emit: typeof bench.ports.emit = async (body) => {
          bench.events.push(body);
          if (body.type === 'item.started') controller.abort();
        };
        const verify = verifyOf([checkOf('sleep 600'), checkOf('true', { name: 'second' })]);
        const round = await s.final(verify, {
          bench: { ...bench, ports: { ...bench.ports, emit } },
          signal: controller.signal,
        });
        expect(statuses(round)).toEqual(['cancelled', 'tests cancelled']);
        expect(bench.events.map((event) => event.type)).toEqual([
          'verification.started',
          'item.started',
          'item.completed',
          'verification.completed',
        ]);
        expect(readdirSync(s.scratch)).toEqual([]);
      });
    },
  );
}

describe.skipIf(typeof fenced === 'string')('a mounted room', () => {
  it('stands at the path of the workspace, with the repository and submodules read-only in it', async () => {
    const s = await open({ 'a.txt': 'a\n' }, 'workspace-write');
    const verify = verifyOf([
      checkOf(
        'pwd; git rev-parse --is-inside-work-tree; touch .git/x 2>/dev/null || echo read-only; touch made && echo writable',
      ),
    ]);
    const round = await s.final(verify, {});
    expect(round.runs[0]?.output?.text).toBe(`${s.workspace.dir}\ntrue\nread-only\nwritable\n`);
    expect(existsSync(s.path('made'))).toBe(false);
  });
});
