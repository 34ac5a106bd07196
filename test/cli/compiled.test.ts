import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Bench, CLI, commitAll, createBench, runCli, writeCassette } from '../scenario.ts';

const DIST = dirname(CLI);
const CODE = `belay.${process.versions.v8}-${process.arch}.code`;

function createTask(): { bench: Bench; run: string[] } {
  const bench = createBench({ 'belay.yml': 'version: 1\nverify: {checks: []}\n' });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  const calls = [
    { name: 'shell', input: { command: 'echo one > one.txt' } },
    { name: 'finish', input: { status: 'done', summary: 'one is there' } },
  ];
  const cassette = writeCassette(
    bench,
    calls.map((call) => ({ tool_calls: [call] })),
  );
  return { bench, run: ['run', 'make one', '--replay', cassette] };
}

function copyDist(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belay-dist-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(DIST, join(folder, 'dist'), { recursive: true });
  return join(folder, 'dist');
}

/** Prints, when the process ends, whether V8 took the code that it was given. */
const WITNESS = `
  const vm = require('node:vm');
  const Real = vm.Script;
  vm.Script = class extends Real {
    constructor(source, options) {
      super(source, options);
      require('node:fs').writeFileSync(process.env.WITNESS, JSON.stringify({ rejected: this.cachedDataRejected ?? null }));
    }
  };
`;

function witnessed(bench: Bench): { env: Record<string, string>; read(): unknown } {
  const file = join(bench.io, 'witness.cjs');
  const said = join(bench.io, 'said.json');
  writeFileSync(file, WITNESS);
  return {
    env: { NODE_OPTIONS: `--require ${file}`, WITNESS: said },
    read: () => (existsSync(said) ? JSON.parse(readFileSync(said, 'utf8')) : 'no script'),
  };
}

test('the code of the build is taken as it is by the Node that built', async () => {
  const { bench, run } = createTask();
  const witness = witnessed(bench);
  const { code } = await runCli(run, bench, { env: witness.env });
  expect({ code, witness: witness.read() }).toEqual({ code: 0, witness: { rejected: false } });
});

test('without code for this V8 the same run is done by the modules', async () => {
  const { bench, run } = createTask();
  const dist = copyDist();
  rmSync(join(dist, CODE));
  const witness = witnessed(bench);
  const { code, result } = await runCli(run, bench, { env: witness.env, cli: join(dist, 'cli.js') });
  expect({ code, outcome: result?.outcome, witness: witness.read() }).toEqual({
    code: 0,
    outcome: 'unchecked',
    witness: 'no script',
  });
});

test.each([
  [
    'is of another build',
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 8), Buffer.from('other'), bytes.subarray(13)]),
  ],
  ['is cut', (bytes: Buffer) => bytes.subarray(0, 1000)],
  ['is empty', () => Buffer.alloc(0)],
])('code that %s is not taken, and the run is the same', async (_, damage) => {
  const { bench, run } = createTask();
  const dist = copyDist();
  writeFileSync(join(dist, CODE), damage(readFileSync(join(dist, CODE))));
  const witness = witnessed(bench);
  const { code, result } = await runCli(run, bench, { env: witness.env, cli: join(dist, 'cli.js') });
  expect({ code, outcome: result?.outcome, witness: witness.read() }).toEqual({
    code: 0,
    outcome: 'unchecked',
    witness: { rejected: true },
  });
});

test('both forms of the program know the same commands', async () => {
  const { bench } = createTask();
  const dist = copyDist();
  const compiled = await runCli(['--help'], bench, { cli: join(dist, 'cli.js') });
  for (const file of readdirSync(dist)) if (file.endsWith('.code')) rmSync(join(dist, file));
  const modules = await runCli(['--help'], bench, { cli: join(dist, 'cli.js') });
  expect(modules.stdout).toBe(compiled.stdout);
  expect(modules.stdout).toContain('belay run');
});
