// `npm test`: set-up, then the whole test suite. Arguments go to vitest; so does its exit code to the caller.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setUpOrExit } from './set-up.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
setUpOrExit();
const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => vitest.kill(signal));
vitest.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
