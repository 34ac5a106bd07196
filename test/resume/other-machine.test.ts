import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, type CliEnd, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const POLICY = {
  version: 1,
  approvals: 'suspend',
  commands: { default: 'allow', ask: ['touch gate.txt'] },
  verify: { checks: [{ name: 'before', run: 'test -e before.txt' }] },
};
const call = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
const LINES = [
  call('echo 1 > before.txt'),
  call('touch gate.txt'),
  call('pwd > where.txt'),
  { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] },
];

let bench: Bench;
let base: string;
let cassette: string;
let first: CliEnd;
let approval: string;
let file: string;

beforeAll(async () => {
  bench = createBench({ 'a.txt': 'a\n' });
  base = commitAll(bench);
  cassette = writeCassette(bench, LINES);
  writeFileSync(join(bench.io, 'policy.yml'), JSON.stringify(POLICY));
  writeFileSync(join(bench.io, 'floor.yml'), 'version: 1\nlimits: {turns: 9}\n');
  const trust = ['--policy', join(bench.io, 'policy.yml'), '--policy-floor', join(bench.io, 'floor.yml')];
  first = await runCli(['run', 'go on', '--replay', cassette, ...trust, '--trust-ref', 'HEAD'], bench);
  const asked = first.events.find((event) => event.type === 'approval.requested');
  if (asked?.type !== 'approval.requested') throw new Error(first.stderr);
  approval = asked.approval_id;
  file = join(bench.io, 'thread.belay');
  await runCli(['thread', 'export', first.result?.thread_id ?? '', file], bench);
}, 60_000);
afterAll(() => bench.remove());

/** A checkout at another path, with a home and state of its own. */
function openMachine(name: string) {
  const root = join(bench.root, name);
  for (const folder of ['home', 'state', 'home/policies']) mkdirSync(join(root, folder), { recursive: true });
  bench.git('clone', '-q', '--no-hardlinks', bench.ws, join(root, 'work'));
  for (const one of ['policy.yml', 'floor.yml'])
    writeFileSync(join(root, 'home/policies', one), readFileSync(join(bench.io, one)));
  const options = { cwd: join(root, 'work'), env: { HOME: join(root, 'home'), XDG_STATE_HOME: join(root, 'state') } };
  const id = first.result?.thread_id ?? '';
  return {
    ws: options.cwd,
    thread: join(root, 'state/belay/threads', id),
    own: {
      policy: ['--policy', join(root, 'home/policies/policy.yml')],
      floor: ['--policy-floor', join(root, 'home/policies/floor.yml')],
      ref: ['--trust-ref', base],
    },
    belay: (...args: string[]) => runCli(args, bench, options),
    resume: (...args: string[]) => runCli(['resume', id, '--replay', cassette, ...args], bench, options),
  };
}

/** The notes with another text, and a chain that fits. */
function forgeNotes(thread: string, from: string, to: string): void {
  const path = join(thread, 'notes.jsonl');
  let prev = '0'.repeat(64);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const forged = lines.map((line) => {
    const record = { ...JSON.parse(line.replaceAll(from, to)), prev };
    const text = JSON.stringify(record);
    prev = createHash('sha256').update(text).digest('hex');
    return `${text}\n`;
  });
  writeFileSync(path, forged.join(''));
}

describe('an approval on another machine', () => {
  it('runs what was asked for, under the trust that this machine names, and tells the model where it is', async () => {
    const there = openMachine('there');
    const imported = await there.belay('thread', 'import', file);
    expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining('--policy-floor') });
    const { policy, floor, ref } = there.own;
    for (const [lacking, given] of [
      ['--policy', [...floor, ...ref]],
      ['--policy-floor', [...policy, ...ref]],
      ['--trust-ref', [...policy, ...floor]],
    ] as const) {
      const end = await there.resume('--approve', approval, ...given);
      expect([lacking, end.code, end.stderr]).toEqual([lacking, 2, expect.stringContaining(`your own ${lacking}\n`)]);
    }
    expect(Object.keys(treeOf(there.ws))).toEqual(['a.txt']);

    const end = await there.resume('--approve', approval, ...policy, ...floor, ...ref);
    expect({ code: end.code, outcome: end.result?.outcome, turns: end.result?.limits.turns }).toEqual({
      code: 0,
      outcome: 'verified',
      turns: { used: 4, max: 9 },
    });
    expect(treeOf(there.ws)).toMatchObject({ 'before.txt': '1\n', 'gate.txt': '', 'where.txt': `${there.ws}\n` });
    const shown = await there.belay('thread', 'show', first.result?.thread_id ?? '', '--request', '3', '--json');
    const { pieces } = JSON.parse(shown.stdout);
    expect(pieces.at(-1)).toMatchObject({
      source: 'workspace',
      trusted: true,
      text: expect.stringContaining(there.ws),
    });
  }, 90_000);

  it('runs nothing where the record was changed on its way, however well it is chained', async () => {
    const there = openMachine('forged');
    await there.belay('thread', 'import', file);
    forgeNotes(there.thread, 'touch gate.txt', 'touch evil.txt');
    const end = await there.resume('--approve', approval, ...Object.values(there.own).flat());
    expect([end.code, end.stderr]).toEqual([2, expect.stringContaining('is not the one that')]);
    expect(Object.keys(treeOf(there.ws))).toEqual(['a.txt']);
  }, 60_000);
});

describe('what the first run was given to trust', () => {
  it('holds for a resumed run and a branch of the thread, and is asked for where it is gone', async () => {
    const id = first.result?.thread_id ?? '';
    const fork = (await runCli(['thread', 'fork', id, '--from-turn', '1'], bench)).stdout.trim();
    const open = await runCli(['resume', id], bench);
    expect([open.code, open.events[0]]).toMatchObject([
      13,
      { policy: { sha256: expect.any(String), floor_sha256: expect.any(String) } },
    ]);
    for (const name of ['floor.yml', 'policy.yml']) {
      const path = join(bench.io, name);
      renameSync(path, `${path}.gone`);
      for (const thread of [id, fork]) {
        const end = await runCli(['resume', thread, '--replay', cassette], bench);
        expect([end.code, end.stderr]).toEqual([2, expect.stringMatching(`${name}, which .* is gone`)]);
      }
      renameSync(`${path}.gone`, path);
    }
    rmSync(join(bench.root, 'state/belay/threads', fork), { recursive: true });
  }, 60_000);
});
