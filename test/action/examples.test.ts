import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createForge, type Forge } from './create-forge.ts';
import { runJob } from './run-job.ts';
import { ROOT } from './workflow-file.ts';

const forges: Forge[] = [];
afterEach(() => {
  for (const forge of forges.splice(0)) forge.remove();
});
function makeForge(files: Record<string, string> = {}): Forge {
  const forge = createForge(files);
  forges.push(forge);
  return forge;
}

/** A recorded agent instead of a model: the only thing that the machine of the agent's job has and a real one has not. */
const AGENT = { BELAY_REPLAY: join(ROOT, 'examples/demo/cassette.jsonl') };

describe('examples/workflows/fix-on-failure.yml', () => {
  const file = 'examples/workflows/fix-on-failure.yml';
  const failedRun = (forge: Forge, repository = 'octo/demo') => ({
    workflow_run: {
      conclusion: 'failure',
      event: 'push',
      head_sha: forge.base,
      head_branch: 'main',
      head_repository: { full_name: repository },
    },
  });

  it('ends in a pull request whose body is the report', async () => {
    const forge = makeForge();
    forge.event('workflow_run', failedRun(forge));
    const agent = await runJob(forge.newRunner(AGENT), { file, job: 'agent' });
    const propose = await runJob(forge.newRunner(), { file, job: 'propose', needs: { agent } });
    const branch = 'belay/fix-7-1';
    expect({
      agent: [agent.result, agent.permissions, agent.outputs],
      propose: [propose.result, propose.permissions],
      changed: forge.git('diff', '--name-only', forge.base, branch),
      gh: forge.ghCalls().map((call) => call.replace(/ --body-file .*/, '')),
    }).toEqual({
      agent: ['success', { contents: 'read' }, { verified: 'true' }],
      propose: ['success', { contents: 'write', 'pull-requests': 'write' }],
      changed: 'src/split-bill.js',
      gh: ['auth setup-git', `pr create --base main --head ${branch} --title Mend the checks that fail on main`],
    });
    expect(forge.bodies()).toEqual([agent.end?.summary]);
  });

  it('starts no agent for a pull request from a fork', async () => {
    const forge = makeForge();
    forge.event('workflow_run', failedRun(forge, 'stranger/demo'));
    expect((await runJob(forge.newRunner(AGENT), { file, job: 'agent' })).result).toBe('skipped');
  });
});
