import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { createForge, type Forge } from './create-forge.ts';
import { ROOT } from './workflow-file.ts';

const forges: Forge[] = [];
afterEach(() => {
  for (const forge of forges.splice(0)) forge.remove();
});

const CASSETTE = { BELAY_REPLAY: join(ROOT, 'examples/demo/cassette.jsonl') };
const GOAL = readFileSync(join(ROOT, 'examples/demo/goal.md'), 'utf8');
const BELAY = `${process.execPath} ${join(ROOT, 'dist/cli.js')}`;

/** A checkout of the forge's base, and a way to run a script in it. */
function machine(forge: Forge) {
  const runner = forge.newRunner();
  runner.actions['actions/checkout']?.({ runner, with: {} });
  return (args: readonly string[], env: Record<string, string>) => {
    const [program = '', ...rest] = args;
    const end = spawnSync(program, rest, {
      cwd: runner.workspace,
      env: { ...runner.env, BELAY, ...env },
      encoding: 'utf8',
    });
    return { status: end.status, says: `${end.stdout}${end.stderr}`, workspace: runner.workspace };
  };
}

function makeForge(): Forge {
  const forge = createForge();
  forges.push(forge);
  return forge;
}

describe('examples/pipeline.sh', () => {
  it('ends in a branch with the change, and says by its exit code when there is none', () => {
    const forge = makeForge();
    const script = join(ROOT, 'examples/pipeline.sh');
    const out = join(forge.root, 'out');
    const agent = machine(forge)(['bash', script, 'agent', join(ROOT, 'examples/demo/goal.md'), out], CASSETTE);
    const propose = machine(forge)(['bash', script, 'propose', out, 'belay/change'], {});
    expect([agent.status, propose.status], agent.says + propose.says).toEqual([0, 0]);
    expect(forge.git('diff', '--name-only', forge.base, 'belay/change')).toBe('src/split-bill.js');
    expect(readFileSync(join(out, 'report.md'), 'utf8')).toContain('split-bill');
    const without = machine(forge)(
      ['bash', script, 'agent', join(ROOT, 'examples/demo/goal.md'), join(forge.root, 'no')],
      {
        BELAY_REPLAY: join(ROOT, 'test/scenarios/011-gave-up/model.jsonl'),
      },
    );
    expect(without.status, without.says).toBe(14);
  });
});

const Pipeline = z.looseObject({
  agent: z.looseObject({ script: z.array(z.string()) }),
  propose: z.looseObject({ script: z.array(z.string()) }),
});

describe('examples/gitlab/.gitlab-ci.yml', () => {
  it('has scripts that end in a merge request with the change', () => {
    const forge = makeForge();
    forge.git('config', 'receive.advertisePushOptions', 'true');
    const jobs = Pipeline.parse(parse(readFileSync(join(ROOT, 'examples/gitlab/.gitlab-ci.yml'), 'utf8')));
    const [first, second] = [machine(forge), machine(forge)];
    const env = (name: string) => ({
      GOAL,
      OUT: join(forge.root, name),
      CI_COMMIT_SHA: forge.base,
      CI_DEFAULT_BRANCH: 'main',
      CI_PIPELINE_ID: '9',
      CI_PIPELINE_URL: 'https://gitlab.test/octo/demo/-/pipelines/9',
      CI_PROJECT_PATH: 'octo/demo',
      CI_SERVER_HOST: 'gitlab.test',
      BELAY_PUSH_TOKEN: 'pushes',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.${join(forge.root, 'origin.git')}.insteadOf`,
      GIT_CONFIG_VALUE_0: 'https://belay:pushes@gitlab.test/octo/demo.git',
    });
    const run = (here: ReturnType<typeof machine>, script: readonly string[], more: Record<string, string>) =>
      here(['bash', '-eo', 'pipefail', '-c', script.join('\n')], more);
    const agent = run(first, jobs.agent.script, { ...env('out-1'), ...CASSETTE });
    expect(agent.status, agent.says).toBe(0);
    // The artifact of the one job is in the checkout of the other.
    const made = spawnSync('cp', ['-r', join(agent.workspace, 'belay-out'), second(['pwd'], {}).workspace]);
    expect(made.status).toBe(0);
    const propose = run(second, jobs.propose.script, env('out-2'));
    expect(propose.status, propose.says).toBe(0);
    expect(forge.git('diff', '--name-only', forge.base, 'belay/9')).toBe('src/split-bill.js');
    rmSync(join(forge.root, 'out-1'), { recursive: true });
  });
});
