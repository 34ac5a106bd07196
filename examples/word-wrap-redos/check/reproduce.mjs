// Trimming takes time in proportion to the text. The library gets two seconds of processor time, which a busy machine does not
// shorten: the defect needs minutes, the fix a small part of one second.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const library = fileURLToPath(new URL('../index.js', import.meta.url));
const program = `
  const spaces = ' '.repeat(300000);
  const wrapped = require(process.argv[1])('a' + spaces + 'b' + spaces, { trim: true, width: 700000, indent: '' });
  process.stdout.write(String(wrapped === 'a' + spaces + 'b'));
`;

const bounded = ['-c', 'ulimit -t 2 && exec "$0" -e "$1" "$2"', process.execPath, program, library];
const { stdout, signal, stderr } = spawnSync('sh', bounded, { encoding: 'utf8' });
if (signal) fail('trimming a line of 600,000 spaces took more than two seconds of processor time');
if (stdout !== 'true') fail(`the line was not trimmed at its end alone: ${stdout}${stderr}`);

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
