// What the library could do before, it can do after.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const library = fileURLToPath(new URL('../index.js', import.meta.url));
const program =
  'process.stdout.write(JSON.stringify(require(process.argv[1])[process.argv[2]](JSON.parse(process.argv[3]))))';
const cases = [
  ['quote', ['a', 'b c', '$HOME'], "a 'b c' \\$HOME"],
  ['quote', ['C:\\here\\x.js', 'd:;'], 'C:\\\\here\\\\x.js d:\\;'],
  ['quote', [{ op: '||' }, 'x'], '\\|\\| x'],
  ['parse', 'a \'b c\' "d" | e', ['a', 'b c', 'd', { op: '|' }, 'e']],
];

for (const [name, input, expected] of cases) {
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, library, name, JSON.stringify(input)], {
    encoding: 'utf8',
  });
  if (!isDeepStrictEqual(JSON.parse(stdout || 'null'), expected))
    fail(`${name} ${JSON.stringify(input)}: ${stdout}${stderr}`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
