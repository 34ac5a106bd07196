// Trimming takes time in proportion to the text. The library gets four seconds of processor time, which a busy machine does not
// shorten: the defect needs minutes, the fix a small part of one second.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const library = fileURLToPath(new URL('../index.js', import.meta.url));
const program = `
  const spaces = ' '.repeat(300000);
  const wrapped = require(process.argv[1])('a' + spaces + 'b' + spaces, { trim: true, width: 700000, indent: '' });
  process.stdout.write(String(wrapped === 'a' + spaces + 'b'));
`;

const bounded = ['-c', 'ulimit -t 4 && exec "$0" -e "$1" "$2"', process.execPath, program, library];
const { stdout, signal, stderr } = spawnSync('sh', bounded, { encoding: 'utf8' });
assert.equal(signal, null, 'trimming a line of 600,000 spaces took more than four seconds of processor time');
assert.equal(stdout, 'true', stderr);
