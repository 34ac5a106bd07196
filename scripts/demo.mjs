// `npm run demo`: belay's main job on a small repository with a real bug. A recorded agent stands in for a model, everything
// else is real: the sandbox, the patches, the tests that belay runs, the verdict. Its exit code is the run's.
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp } from 'node:fs/promises';
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
const outputs = ['--format', 'text', '--events', events, '--result', result, '--patch', patch];
const run = spawnSync(process.execPath, [...runArguments('demo', 'cassette', workspace), ...outputs], {
  stdio: 'inherit',
  env: { ...process.env, XDG_STATE_HOME: join(folder, 'state') },
});

console.log(`
Look at
  the change    ${patch}
  the verdict   ${result}
  every step    ${events}
  the policy    ${join(workspace, 'belay.yml')}
Exit code ${run.status}. A model of your own: README.md, "Run it".`);
process.exitCode = run.status ?? 1;
