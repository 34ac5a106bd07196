import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { commitAll, createBench, runCli, writeCassette } from '../scenario.ts';

const IS_LINUX = process.platform === 'linux';

/** Arguments of bubblewrap, those that it is sent first, up to the script, without the command's own environment. */
const withoutOwn = (args: readonly string[]): string[] =>
  args
    .slice(0, -1)
    .filter((_, i) => args[i] !== '--setenv' && args[i - 1] !== '--setenv' && args[i - 2] !== '--setenv');

it.skipIf(!IS_LINUX)(
  'the sandbox is tried once a run, before anything else, with the arguments of a check',
  async () => {
    const policy = {
      version: 1,
      sandbox: { require: 'bubblewrap' },
      verify: { checks: [{ name: 'good', run: 'grep -q good a.txt', before: 'fail' }] },
    };
    const bench = createBench({ 'a.txt': 'bad\n', 'belay.yml': JSON.stringify(policy) });
    onTestFinished(() => bench.remove());
    commitAll(bench);
    const log = join(bench.root, 'calls');
    writeFileSync(log, '');
    // Whoever runs commands runs this, and writes there.
    chmodSync(log, 0o666);
    chmodSync(bench.root, 0o777);
    bench.write(
      '../bin/bwrap',
      [
        '#!/bin/sh',
        // What belay sends by descriptor 5 is read here, and sent on.
        `taken='${bench.root}/taken'; cat <&5 > "$taken.$$"; exec 5< "$taken.$$"`,
        `{ cat "$taken.$$"; printf '%s\\0' "$@"; printf 'END\\0'; } >> '${log}'`,
        `exec "$(PATH='${process.env['PATH']}' command -v bwrap)" "$@"`,
      ].join('\n'),
    );
    chmodSync(join(bench.root, 'bin/bwrap'), 0o755);
    const cassette = writeCassette(bench, [
      { tool_calls: [{ name: 'shell', input: { command: 'echo good > a.txt' } }] },
      { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] },
    ]);
    const env = { PATH: `${join(bench.root, 'bin')}:${process.env['PATH']}` };
    const end = await runCli(['run', 'go', '--replay', cassette], bench, { env });
    expect({ code: end.code, reason: end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });

    const calls = readFileSync(log, 'utf8')
      .split('\0END\0')
      .slice(0, -1)
      .map((call) => call.split('\0'));
    const isProbe = (args: readonly string[]) => args.includes('CANARY');
    expect(calls.map(isProbe)).toEqual([true, ...calls.slice(1).map(() => false)]);
    const [probe = [], baseline = []] = calls;
    expect(baseline.at(-1)).toBe('grep -q good a.txt');
    expect(withoutOwn(probe)).toEqual(withoutOwn(baseline));
    expect(probe.at(-1)).toContain('/proc/self/status');
  },
);
