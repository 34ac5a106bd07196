import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Bench, type CliEnd, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const benches: Bench[] = [];
afterAll(() => {
  for (const bench of benches) bench.remove();
});

const LINES = [
  { tool_calls: [{ name: 'shell', input: { command: 'echo 1 > before.txt' } }] },
  {
    tool_calls: [
      { name: 'shell', input: { command: 'touch gate.txt' } },
      { name: 'shell', input: { command: 'echo 2 > after.txt' } },
    ],
  },
  { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] },
];

/** A run that waits for a person, and what it asked for. */
async function suspend(): Promise<{ bench: Bench; one: CliEnd; thread: string; approval: string }> {
  const policy = {
    version: 1,
    approvals: 'suspend',
    commands: { default: 'allow', ask: ['touch gate.txt'] },
    verify: { checks: [{ name: 'before', run: 'test -e before.txt' }] },
  };
  const bench = createBench({ 'a.txt': 'a\n', 'belay.yml': JSON.stringify(policy) });
  benches.push(bench);
  commitAll(bench);
  const cassette = writeCassette(bench, LINES);
  const one = await runCli(['run', 'go on', '--replay', cassette], bench);
  const asked = one.events.find((event) => event.type === 'approval.requested');
  if (asked?.type !== 'approval.requested' || one.result === null) throw new Error(one.stderr);
  return { bench, one, thread: one.result.thread_id, approval: asked.approval_id };
}

describe('a run that waits for a person', () => {
  it('ends with 13 and the workspace as it was, and runs what was asked for once it is approved, then what stood behind it', async () => {
    const { bench, one, thread, approval } = await suspend();
    expect(one.code).toBe(13);
    expect(Object.keys(treeOf(bench.ws))).toEqual(['a.txt', 'belay.yml']);

    const waits = await runCli(['resume', thread], bench);
    expect({ code: waits.code, ran: waits.events.some((event) => event.type === 'turn.started') }).toEqual({
      code: 13,
      ran: false,
    });
    expect(Object.keys(treeOf(bench.ws))).toEqual(['a.txt', 'belay.yml']);

    const two = await runCli(['resume', thread, '--approve', approval], bench);
    expect({ code: two.code, outcome: two.result?.outcome }).toEqual({ code: 0, outcome: 'verified' });
    expect(Object.keys(treeOf(bench.ws))).toEqual(['a.txt', 'after.txt', 'before.txt', 'belay.yml', 'gate.txt']);
    expect(two.result?.limits.turns.used).toBe(3);

    const three = await runCli(['resume', thread, '--approve', approval], bench);
    expect(three.code).toBe(2);
  });

  it('goes on without the action when it is denied, and the denial is in the result', async () => {
    const { bench, thread, approval } = await suspend();
    const two = await runCli(['resume', thread, '--deny', approval], bench);
    expect(two.code).toBe(0);
    expect(Object.keys(treeOf(bench.ws))).toEqual(['a.txt', 'after.txt', 'before.txt', 'belay.yml']);
    expect(two.result?.denials.map(({ action }) => action)).toEqual(['touch gate.txt']);
  });

  it('runs nothing when the record is not what was asked for', async () => {
    const { bench, thread, approval } = await suspend();
    const notes = join(bench.root, 'state', 'belay', 'threads', thread, 'notes.jsonl');
    writeFileSync(notes, readFileSync(notes, 'utf8').replaceAll('touch gate.txt', 'touch evil.txt'));
    const two = await runCli(['resume', thread, '--approve', approval], bench);
    expect(two.code).toBe(2);
    expect(Object.keys(treeOf(bench.ws))).toEqual(['a.txt', 'belay.yml']);
  });

  it('takes no word on anything but the open question, and neither both words at once', async () => {
    const { bench, thread, approval } = await suspend();
    for (const args of [
      ['--approve', 'approval_2_0'],
      ['--deny', 'something'],
      ['--approve', approval, '--deny', approval],
    ])
      expect((await runCli(['resume', thread, ...args], bench)).code).toBe(2);
    expect(Object.keys(treeOf(bench.ws))).toEqual(['a.txt', 'belay.yml']);
  });

  it('refuses a workspace that holds what it did not leave, and keeps that', async () => {
    const { bench, thread, approval } = await suspend();
    bench.write('a.txt', 'mine\n');
    const two = await runCli(['resume', thread, '--approve', approval], bench);
    expect(two.code).toBe(2);
    expect(two.stderr).toContain('a.txt');
    expect(treeOf(bench.ws)).toMatchObject({ 'a.txt': 'mine\n' });
  });
});
