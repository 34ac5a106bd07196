import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, CLI, commitAll, createBench, runCli, writeCassette } from '../scenario.ts';

const shell = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
const FINISH = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'all done' } }] };
let bench: Bench;
let cassette: string;

function layOut(answers: readonly object[], policy = ''): void {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': `version: 1\nverify: {checks: []}\n${policy}` });
  commitAll(bench);
  cassette = writeCassette(bench, answers);
}
afterEach(() => bench.remove());

const namesOfCalls = (lines: string) =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).tool_calls[0].name);

/** A run in a shell, which alone can open a pipe as `/dev/fd/N`. */
function startInShell(script: string, words: readonly string[]) {
  const child = spawn('bash', ['-c', script, 'bash', process.execPath, CLI, ...words], {
    cwd: bench.ws,
    env: bench.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, code, said: text(child.stdout) };
}

describe('a recording', () => {
  it.each([
    ['a link', 'ln -s "$OUT" tape.jsonl'],
    ['a named pipe', 'mkfifo tape.jsonl'],
  ])(
    'goes on in the file that was opened, and says so, where an agent without a fence put %s in its place',
    async (_, put) => {
      const unfenced = 'sandbox: {mode: off, env: {pass: [OUT]}}\nworkspace: {on_failure: restore}\n';
      layOut([shell('true'), shell(`mv tape.jsonl gone.jsonl; ${put}`), shell('true'), FINISH], unfenced);
      const foreign = join(bench.root, 'foreign.txt');
      writeFileSync(foreign, 'mine\n');
      const args = ['run', 'go', '--replay', cassette, '--record', 'tape.jsonl'];
      const end = await runCli(args, bench, { env: { OUT: foreign } });
      expect({ code: end.code, outcome: end.result?.outcome }).toEqual({ code: 0, outcome: 'unchecked' });
      expect(end.events.flatMap((event) => (event.type === 'error' ? [[event.code, event.message]] : []))).toEqual([
        ['record', expect.stringMatching(/tape\.jsonl is not whole: it was moved, removed or replaced/)],
      ]);
      expect(namesOfCalls(bench.read('gone.jsonl'))).toEqual(['shell', 'shell', 'shell']);
      expect(readFileSync(foreign, 'utf8')).toBe('mine\n');
    },
  );

  it('goes into a pipe that the shell has opened, whole', async () => {
    layOut([shell('echo b > a.txt'), FINISH]);
    const tape = join(bench.io, 'tape.jsonl');
    const script = `"$@" --record >(cat > '${tape}.part'; mv '${tape}.part' '${tape}'; echo >> '${bench.io}/pipe')`;
    execFileSync('mkfifo', [join(bench.io, 'pipe')]);
    const done = open(join(bench.io, 'pipe'), 'r');
    const run = startInShell(script, ['run', 'go', '--replay', cassette, '--format', 'quiet']);
    expect(await run.code).toBe(0);
    await (await done).close();
    expect(namesOfCalls(readFileSync(tape, 'utf8'))).toEqual(['shell', 'finish']);
  });
});

describe('a named pipe as an output', () => {
  const start = (option: string, pipe: string) =>
    spawn(process.execPath, [CLI, 'run', 'go', '--replay', cassette, option, pipe], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const endOf = (child: ReturnType<typeof start>) =>
    new Promise<unknown>((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));

  it('of --record that nobody opens is waited for until a signal comes: the run has its end all the same', async () => {
    layOut([FINISH]);
    const pipe = join(bench.io, 'tape');
    execFileSync('mkfifo', [pipe]);
    const child = start('--record', pipe);
    const ended = endOf(child);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      // Out after a second at most, whatever is waited for.
      if (said.includes('{"type":"thread.started"')) child.kill('SIGTERM');
    });
    expect(await ended).toBe(143);
    expect(said.trimEnd().split('\n').at(-1)).toMatch(/^\{"type":"run\.completed".*"outcome":"interrupted"/);
  });

  it.each(['--record', '--events'])(
    'of %s whose reader has stopped reading does not keep a run from its end',
    async (option) => {
      layOut([{ text: 'x'.repeat(300_000), ...shell('true') }, FINISH]);
      const pipe = join(bench.io, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const child = start(option, pipe);
      const ended = endOf(child);
      const said = text(child.stdout);
      const reader = await open(pipe, 'r');
      // The line of the answer has begun, and what is left of it is more than the kernel holds for a pipe.
      for (let bytes = 0; bytes < 100_000; ) bytes += (await reader.read(Buffer.alloc(16_384))).bytesRead;
      child.kill('SIGTERM');
      expect(await ended).toBe(143);
      await reader.close();
      expect(await said).toContain('{"type":"run.completed"');
    },
  );
});
