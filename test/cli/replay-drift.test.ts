import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';

const POLICY = `version: 1
limits: {attempts: 1}
verify:
  checks:
    - {name: tests, run: "grep -q good value.txt"}
`;
let bench: Bench;
let id: string;
let events: string;

beforeEach(async () => {
  bench = createBench({ 'value.txt': 'bad\n', 'other.txt': 'one\ntwo\n', 'belay.yml': POLICY });
  commitAll(bench);
  const call = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
  const cassette = join(bench.io, 'model.jsonl');
  const shell = ['cat other.txt', 'echo good > value.txt'].map((command) => call('shell', { command }));
  writeFileSync(cassette, shell.join('') + call('finish', { status: 'done', summary: 'done' }));
  events = join(bench.io, 'events.jsonl');
  const { result, stderr } = await runCli(['run', 'fix', '--replay', cassette, '--events', events], bench);
  if (result?.outcome !== 'verified') throw new Error(stderr);
  id = result.thread_id;
  bench.git('checkout', '-q', '.');
}, 60_000);
afterEach(() => bench.remove());

const recommit = (path: string, text: string) => {
  bench.write(path, text);
  commitAll(bench);
};

describe('belay replay', () => {
  it('finds no drift in a thread or a stream that goes as it went, and leaves the workspace alone', async () => {
    const before = treeOf(bench.ws);
    const recorded = readFileSync(events, 'utf8');
    const file = join(bench.io, 'drift.json');
    for (const source of [id, events]) {
      const end = await runCli(['replay', source, '--drift', file], bench);
      expect([end.code, JSON.parse(readFileSync(file, 'utf8'))]).toEqual([0, null]);
    }
    expect([treeOf(bench.ws), readFileSync(events, 'utf8')]).toEqual([before, recorded]);
  }, 60_000);

  it('tells both sides of the first command that gives something else', async () => {
    recommit('other.txt', 'one\nTWO\n');
    const file = join(bench.io, 'drift.json');
    const end = await runCli(['replay', id, '--fail-on', 'drift', '--drift', file], bench);
    expect(end.code).toBe(16);
    expect(end.stderr).toMatch(
      /drift at turn 1, the command "cat other.txt":\n {2}recorded: completed, exit 0, output "two"\n {2}now: {6}completed, exit 0, output "TWO"\n/,
    );
    const command = { kind: 'command', turn: 1, command: 'cat other.txt', status: 'completed', exit_code: 0 };
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      recorded: { ...command, output: 'one\ntwo\n' },
      now: { ...command, output: 'one\nTWO\n' },
    });
    expect((await runCli(['replay', id, '--fail-on', 'never'], bench)).code).toBe(0);
    expect((await runCli(['replay', id, '--fail-on', 'sometimes'], bench)).code).toBe(2);
  }, 60_000);

  it('tells both sides of a check and of a request', async () => {
    recommit('AGENTS.md', 'be nice\n');
    const request = await runCli(['replay', id], bench);
    expect(request.code).toBe(16);
    expect(request.stderr).toMatch(
      /drift at turn 1, the request:\n {2}recorded: turn 1, request [0-9a-f]{64}\n {2}now: {6}turn 1, request [0-9a-f]{64}/,
    );
    bench.git('rm', '-q', 'AGENTS.md');
    recommit('value.txt', 'good already\n');
    const check = await runCli(['replay', id], bench);
    expect(check.code).toBe(16);
    expect(check.stderr).toMatch(
      /drift at the check "tests" \(baseline\):\n {2}recorded: tests failed, exit 1\n {2}now: {6}tests passed, exit 0/,
    );
  }, 60_000);

  it('takes a thread of two runs, the second of which went on in the middle of an answer, for the one that it is', async () => {
    const ask = `${POLICY}approvals: suspend\ncommands: {ask: ["touch gate.txt"]}\n`;
    recommit('belay.yml', ask);
    const calls = ['cat other.txt', 'touch gate.txt', 'echo good > value.txt'].map((command) => ({
      name: 'shell',
      input: { command },
    }));
    const cassette = join(bench.io, 'model.jsonl');
    const lines = [{ tool_calls: calls, usage: { input_tokens: 10, output_tokens: 2 } }, { text: 'done' }];
    writeFileSync(cassette, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const one = await runCli(['run', 'fix', '--replay', cassette], bench);
    const asked = one.events.find((event) => event.type === 'approval.requested');
    const thread = one.result?.thread_id ?? '';
    const approval = asked?.type === 'approval.requested' ? asked.approval_id : '';
    const two = await runCli(['resume', thread, '--approve', approval], bench);
    expect([one.code, two.code, two.result?.usage.input_tokens]).toEqual([13, 0, 10]);
    bench.git('checkout', '-q', '.');
    bench.git('clean', '-fdq');
    recommit('belay.yml', POLICY);
    const end = await runCli(['replay', thread], bench);
    expect([end.code, end.stderr.includes('drift'), end.result?.usage.input_tokens]).toEqual([0, false, 10]);
  }, 60_000);
});
