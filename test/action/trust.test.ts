import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Result } from '../../src/events/index.ts';
import { createForge, type Forge } from './create-forge.ts';
import { type Runner, runSteps } from './runner.ts';
import { ROOT, Step } from './workflow-file.ts';

const forges: Forge[] = [];
afterEach(() => {
  for (const forge of forges.splice(0)) forge.remove();
});

/** A pull request that takes the checks out of the policy, checked out as GitHub does: its one commit. */
function pullRequest(event: string, from: string): { forge: Forge; runner: Runner } {
  const forge = createForge();
  forges.push(forge);
  const seed = join(forge.root, 'seed');
  const weaker = 'version: 1\nverify: {checks: []}\n';
  execFileSync('bash', ['-c', 'printf %s "$1" >belay.yml; cp belay.yml own.yml; git add .', '-', weaker], {
    cwd: seed,
  });
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid'];
  execFileSync('git', [...identity, 'commit', '--quiet', '--message', 'change'], { cwd: seed });
  execFileSync('git', ['push', '--quiet', join(forge.root, 'origin.git'), 'HEAD:refs/pull/1/merge'], { cwd: seed });
  forge.event(event, { pull_request: { base: { sha: forge.base }, head: { repo: { full_name: from } } } });
  const runner = forge.newRunner();
  const origin = `file://${join(forge.root, 'origin.git')}`;
  execFileSync('git', ['init', '--quiet', runner.workspace]);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: runner.workspace });
  git('remote', 'add', 'origin', origin);
  git('fetch', '--quiet', '--depth=1', 'origin', 'refs/pull/1/merge');
  git('checkout', '--quiet', '--detach', 'FETCH_HEAD');
  return { forge, runner };
}

const DEMO = {
  'goal-file': join(ROOT, 'examples/demo/goal.md'),
  replay: join(ROOT, 'examples/demo/cassette.jsonl'),
};
async function useBelay(runner: Runner, inputs: Record<string, string> = {}) {
  const step = Step.parse({ id: 'belay', uses: 'OWNER/belay@0', with: { ...DEMO, 'artifact-name': '', ...inputs } });
  const end = await runSteps(runner, [step], { contexts: {}, env: {}, actionPath: null });
  const outputs = end.steps['belay']?.outputs ?? {};
  const file = outputs['result-path'] ?? '';
  const said = end.commands.filter(({ name }) => name === 'error').map(({ message }) => message);
  return { outputs, said, result: file === '' ? null : Result.parse(JSON.parse(readFileSync(file, 'utf8'))) };
}

describe('in a pull request', () => {
  it('policy and checks are those of its base, which is fetched when the clone lacks it', async () => {
    const { forge, runner } = pullRequest('pull_request', 'stranger/demo');
    const { outputs, result } = await useBelay(runner);
    expect({
      outcome: outputs['outcome'],
      checks: result?.checks.map(({ name, final }) => [name, final]),
      policy: result?.policy?.source,
    }).toEqual({
      outcome: 'verified',
      checks: [['tests', 'passed']],
      policy: expect.stringContaining(forge.base.slice(0, 7)),
    });
  });

  it('from a fork, no file of it is policy, goal or schema', async () => {
    const { runner } = pullRequest('pull_request', 'stranger/demo');
    const { outputs, said } = await useBelay(runner, { policy: 'own.yml' });
    expect({ outputs: { outcome: outputs['outcome'], code: outputs['exit-code'] }, said }).toEqual({
      outputs: { outcome: 'usage_error', code: '2' },
      said: [expect.stringMatching(/^input policy: own\.yml is a file of a checkout that may come from a fork/)],
    });
  });

  it('from a fork, in an event that carries secrets, nothing runs', async () => {
    const { runner } = pullRequest('pull_request_target', 'stranger/demo');
    const { outputs, said } = await useBelay(runner);
    expect({ outcome: outputs['outcome'], said }).toEqual({
      outcome: 'usage_error',
      said: [expect.stringContaining('pull_request_target gives this job secrets')],
    });
  });

  it('runs there where the workflow says so, and on branches of the repository itself', async () => {
    const fork = await useBelay(pullRequest('pull_request_target', 'stranger/demo').runner, { 'allow-forks': 'true' });
    const own = await useBelay(pullRequest('pull_request_target', 'octo/demo').runner);
    expect([fork.outputs['outcome'], own.outputs['outcome']]).toEqual(['verified', 'verified']);
  });
});
