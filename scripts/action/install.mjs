// A step of action.yml: makes this checkout of belay run, and puts on the PATH of later steps `belay`, and `belay-quarantined`,
// which is belay with its output where the runner obeys no command of it.
// A checkout that carries its build (dist/) needs no network. Any other installs what package-lock.json names, with its digests,
// and builds.
import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpPackages } from '../set-up.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const isBuilt = existsSync(join(root, 'dist/action.mjs')) && !existsSync(join(root, 'node_modules'));
const problem = isBuilt ? null : setUpPackages(root);
if (problem === null) {
  const bin = join(process.env.RUNNER_TEMP ?? tmpdir(), 'belay-bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, file] of Object.entries({ belay: 'cli.js', 'belay-quarantined': 'quarantined.mjs' })) {
    rmSync(join(bin, name), { force: true });
    symlinkSync(join(root, 'dist', file), join(bin, name));
  }
  if (process.env.GITHUB_PATH) appendFileSync(process.env.GITHUB_PATH, `${bin}\n`);
} else {
  // What npm prints is no command to the runner.
  console.log(problem.replace(/^|\r\n?|\n/g, '\n| '));
  console.log('::error title=belay::belay could not be installed: the log above says why');
  process.exitCode = 1;
}
