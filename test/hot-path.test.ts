import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, createBench, runCli } from './scenario.ts';

const KB = 1024;
/** Of a turn: looks at the tree after the command, its folder, the pipe of its output, syncs. */
const MOST_FILE_CALLS = 25;
const CHUNKS = join(dirname(CLI), 'chunks');
let bench: Bench;
afterEach(() => bench?.remove());

/** The built file of an entry, and all that is read with it before its first line runs. */
function readWith(entry: string): { files: string[]; kilobytes: number } {
  const name = readdirSync(CHUNKS).find((file) => new RegExp(`^${entry}-[A-Z0-9]+\\.mjs$`).test(file));
  if (name === undefined) throw new Error(`there is no chunk ${entry}`);
  const found = new Set<string>();
  const pending = [join(CHUNKS, name)];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|^import)\s*"(\.[^"]+)"/gm))
      if (path !== undefined) pending.push(join(dirname(file), path));
  }
  const files = [...found];
  return { files, kilobytes: Math.round(files.reduce((sum, file) => sum + statSync(file).size, 0) / KB) };
}

describe('what a run reads before its first request', () => {
  it('is nothing for --version but the entry itself', () => {
    const names = [...readFileSync(CLI, 'utf8').matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name);
    expect([...new Set(names)].sort()).toEqual(['node:fs', 'node:module', 'node:path', 'node:vm']);
  });

  it.each([
    { entry: 'main', most: 230 },
    { entry: 'run', most: 550 },
    { entry: 'work', most: 400 },
  ])('is at most $most KB for the chunk $entry with all it needs', ({ entry, most }) => {
    expect(readWith(entry).kilobytes).toBeLessThanOrEqual(most);
  });

  it.each(['run', 'work'])('leaves YAML, providers, prices, reports and schemas of others for later in %s', (entry) => {
    const text = readWith(entry)
      .files.map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const heavy = ['YAMLParseError', 'RE2JSSyntaxException', 'yargs', '<!doctype html>', 'literal("item.updated")'];
    expect(heavy.filter((mark) => text.includes(mark))).toEqual([]);
  });
});

describe('a run', () => {
  const COUNTER = `
    import childProcess from 'node:child_process';
    import { appendFileSync } from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    for (const name of ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'exec', 'execSync']) {
      const real = childProcess[name];
      childProcess[name] = (program, ...rest) => {
        appendFileSync(process.env.COUNTED, name + ' ' + program + '\\n');
        return real(program, ...rest);
      };
    }
    syncBuiltinESMExports();
  `;

  const at = (name: string) => join(bench.io, name);

  /** A recorded agent of so many turns with one command each; returns the arguments of its run. */
  function layOutTurns(turns: number, policy = ''): string[] {
    bench = createBench({ 'belay.yml': `version: 1\nverify: {checks: []}\n${policy}` });
    commitAll(bench);
    const call = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
    const commands = Array.from({ length: turns }, (_, turn) => call('shell', { command: `echo turn-${turn}` }));
    writeFileSync(at('model.jsonl'), commands.join('') + call('finish', { status: 'done', summary: 'done' }));
    return ['run', 'count', '--replay', at('model.jsonl')];
  }

  /** Programs that the CLI itself starts. */
  async function programs(turns: number): Promise<string[]> {
    const args = layOutTurns(turns);
    writeFileSync(at('counter.mjs'), COUNTER);
    writeFileSync(at('counted'), '');
    const env = { NODE_OPTIONS: `--import ${at('counter.mjs')}`, COUNTED: at('counted') };
    const end = await runCli(args, bench, { env });
    expect(end.code).toBe(0);
    const counted = readFileSync(at('counted'), 'utf8').trimEnd().split('\n');
    bench.remove();
    return counted.map((line) => line.split('/').at(-1) ?? line);
  }

  it('starts one program a turn, the fence, and a fixed number beside', async () => {
    const [one, two, seven] = [await programs(1), await programs(2), await programs(7)];
    expect((seven.length - two.length) / 5).toBe(1);
    // Two commands announce a third: its fence is set up ahead.
    expect(two.length - one.length).toBeLessThanOrEqual(2);
    expect(one.length - 1).toBeLessThanOrEqual(20);
  });

  /** Names of the system calls about the run's own files, of the CLI and all that it starts; those about /proc depend on the time that a command takes. */
  function fileCalls(turns: number): string[] {
    const args = layOutTurns(turns, 'sandbox: {mode: "off"}\n');
    const traced = ['-f', '-e', 'trace=%file,fdatasync', '-o', at('calls'), process.execPath, CLI, ...args];
    const { status } = spawnSync('strace', traced, { cwd: bench.ws, env: bench.env, stdio: 'ignore' });
    expect(status).toBe(0);
    const lines = readFileSync(at('calls'), 'utf8').split('\n');
    // `access` and its like name the path first, `openat` and its like second.
    const own = lines.filter(
      (line) => / fdatasync\(/.test(line) || line.includes(`("${bench.root}`) || line.includes(`, "${bench.root}`),
    );
    bench.remove();
    return own.map((line) => /^\d+\s+(\w+)\(/.exec(line)?.[1] ?? '');
  }

  const HAS_STRACE = spawnSync('strace', ['true'], { stdio: 'ignore' }).status === 0;

  it.skipIf(!HAS_STRACE)('makes four syncs a turn, and few other calls about its own files', () => {
    const [two, twelve] = [fileCalls(2), fileCalls(12)];
    const ofTurn = (all: (calls: string[]) => number) => (all(twelve) - all(two)) / 10;
    expect(ofTurn((calls) => calls.filter((name) => name === 'fdatasync').length)).toBe(4);
    expect(ofTurn((calls) => calls.length)).toBeLessThanOrEqual(MOST_FILE_CALLS);
  });
});
