// `npm run demo`: belay's main job on a small repository with a real bug. A recorded agent stands in for a model, everything
// else is real: the sandbox, the patches, the tests that belay runs, the verdict. Its exit code is the run's.
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout, commitAll, runArguments } from './example.mjs';
import { setUpOrExit } from './set-up.mjs';

setUpOrExit();
const folder = await mkdtemp(join(tmpdir(), 'belay-demo-'));
const workspace = join(folder, 'split-bill');
const example = join(checkout, 'examples/demo');
await cp(join(example, 'input'), workspace, { recursive: true });
await cp(join(example, 'belay.yml'), join(workspace, 'belay.yml'));
commitAll(workspace, 'Split a bill between people');

const events = join(folder, 'events.jsonl');
const result = join(folder, 'result.json');
const patch = join(folder, 'change.patch');
console.log(`A coding agent has to mend a bug in a small repository. belay lets it work behind a fence and believes nothing that it says:
belay runs the tests itself, before and after. The agent's answers are recorded; all else happens now.
`);

const outputs = ['--format', 'text', '--events', events, '--result', result, '--patch', patch];
const run = spawnSync(process.execPath, [...runArguments('demo', 'cassette', workspace), ...outputs], {
  stdio: 'inherit',
  env: { ...process.env, XDG_STATE_HOME: join(folder, 'state') },
});

if (run.status === 0) {
  const { used } = JSON.parse(await readFile(result, 'utf8')).limits.attempts;
  console.log(`
What you saw: the agent said ${used} times that it was done, and belay ran the tests each time. When they failed, their output went back
to the agent; when they passed, they ran once more on a fresh checkout of the commit plus the patch. Only then is the exit code 0.`);
}
console.log(`
Look at
  the change    ${patch}
  the verdict   ${result}
  every step    ${events}
  the policy    ${join(workspace, 'belay.yml')}
Exit code ${run.status}. With a model, on a repository of yours: README.md, "Run it".`);
process.exitCode = run.status ?? 1;
