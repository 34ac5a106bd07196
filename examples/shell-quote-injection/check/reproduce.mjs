// A quoted word reaches the program as it was written, whatever the shell thinks of its characters.
// The library runs in a child process, so that it cannot end its judge.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const library = fileURLToPath(new URL('../index.js', import.meta.url));
const program =
  'process.stdout.write(JSON.stringify(JSON.parse(process.argv[2]).map((word) => require(process.argv[1]).quote([word]))))';
const words = ['`:`echo``:`'];
for (const first of ['`', '[', '\\', ']', '^', '_', 'C', 'z'])
  for (const second of ['`', ';', '&']) words.push(`${first}:${second}x`);

const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, library, JSON.stringify(words)], {
  encoding: 'utf8',
});
const quoted = JSON.parse(stdout || 'null');
if (quoted?.length !== words.length) fail(`the library did not answer: ${stderr}`);
for (const [i, word] of words.entries()) {
  const shell = spawnSync('sh', ['-c', `printf %s ${quoted[i]}`], { encoding: 'utf8' });
  if (shell.stdout !== word) fail(`${word} was quoted as ${quoted[i]}, which reads ${shell.stdout}${shell.stderr}`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
