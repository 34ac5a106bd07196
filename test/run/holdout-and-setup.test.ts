import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { IS_ROOT } from '../sandbox/fixture.ts';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';

const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const finish = answer('finish', { status: 'done', summary: 'done' });
let bench: Bench;
afterEach(() => bench.remove());

async function run(
  policy: object,
  answers: string,
  options: { files?: Record<string, string>; env?: NodeJS.ProcessEnv } = {},
) {
  bench = createBench({ 'a.txt': 'a\n', ...options.files, 'belay.yml': JSON.stringify({ version: 1, ...policy }) });
  commitAll(bench);
  const cassette = join(bench.io, 'model.jsonl');
  writeFileSync(cassette, answers);
  return runCli(['run', 'go', '--replay', cassette], bench, { env: options.env ?? {} });
}

describe('a hidden file', () => {
  it('that git tracks is refused: its content would be readable from .git', async () => {
    const verify = { checks: [{ name: 'c', run: 'true' }], holdout: [{ from: 'hidden', to: 'hidden' }] };
    const end = await run({ verify }, finish, { files: { 'hidden/test.sh': 'true\n' } });
    expect({ code: end.code, reason: end.result?.reason }).toEqual({
      code: 2,
      reason: expect.stringContaining('hidden/test.sh is tracked by git'),
    });
  });

  it('that a path of sandbox.readable shows is refused', async () => {
    const holdout = [{ from: import.meta.filename, to: 'hidden' }];
    const policy = {
      sandbox: { readable: [import.meta.dirname] },
      verify: { checks: [{ name: 'c', run: 'true' }], holdout },
    };
    const end = await run(policy, finish);
    expect({ code: end.code, reason: end.result?.reason }).toEqual({
      code: 2,
      reason: expect.stringContaining(`because sandbox.readable names ${import.meta.dirname}`),
    });
  });
});

describe.each(USERS.filter(({ uid }) => uid !== undefined || !IS_ROOT))('a hidden file, of $who', ({ uid, works }) => {
  it.skipIf(!works)('that cannot be laid again fails the round, and is no fault of belay', async () => {
    const close = 'test ! -e held || { echo exit 0 > held/test.sh; chmod 0555 held; }';
    bench = createBench({ 'a.txt': 'a\n' }, uid);
    writeFileSync(join(bench.io, 'test.sh'), 'exit 0 # hidden\n');
    const checks = [
      { name: 'close', run: close },
      { name: 'held', run: 'test ! -e held || sh held/test.sh' },
    ];
    const policy = {
      version: 1,
      verify: { checks, holdout: [{ from: join(bench.io, 'test.sh'), to: 'held/test.sh' }] },
    };
    writeFileSync(join(bench.ws, 'belay.yml'), JSON.stringify(policy));
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    writeFileSync(cassette, answer('shell', { command: 'echo b > a.txt' }) + finish);
    const end = await runCli(['run', 'go', '--replay', cassette], bench);
    expect({ code: end.code, reason: end.result?.reason }).toEqual({
      code: 10,
      reason: expect.stringContaining('cannot be put back: EACCES'),
    });
  });
});

describe('a secret of setup', () => {
  it('reaches setup, but neither the agent, nor a check, nor setup once more after a change to what it reads', async () => {
    const secret = ['setup', 'value', process.pid, 'x'.repeat(8)].join('-');
    const probe = 'printf "%s" "$SETUP_VALUE" | wc -c';
    const end = await run(
      {
        setup: [{ run: `echo "setup sees $SETUP_VALUE"; ${probe} >> "$HOME/seen"`, env: { pass: ['SETUP_VALUE'] } }],
        verify: {
          checks: [{ name: 'seen', run: 'tr -d " \n" < "$HOME/seen"; test -z "$SETUP_VALUE"' }],
        },
        workspace: { write: ['**'] },
      },
      answer('shell', { command: `${probe}; echo '{"name":"x","version":"1.0.0"}' > package.json` }) + finish,
      { env: { SETUP_VALUE: secret } },
    );
    expect({ code: end.code, stderr: end.code === 0 ? '' : end.stderr }).toEqual({ code: 0, stderr: '' });
    expect(end.stdout).not.toContain(secret);
    const outputs = end.events.flatMap((event) =>
      event.type === 'item.completed' && 'aggregated_output' in event.item
        ? [`${event.phase}: ${event.item.aggregated_output.trim()}`]
        : [],
    );
    expect(outputs).toEqual([
      'setup: setup sees [redacted:SETUP_VALUE]',
      `baseline: ${secret.length}`,
      'agent: 0',
      `verify: ${secret.length}`,
      'setup: setup sees',
      `clean_room: ${secret.length}`,
    ]);
  });
});
