// What the library could do before, it can do after.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const library = fileURLToPath(new URL('../index.js', import.meta.url));
const program =
  'process.stdout.write(JSON.stringify(require(process.argv[1])(process.argv[2], JSON.parse(process.argv[3]))))';
const text = 'The quick brown fox \t\njumps over the lazy dog';
const cases = [
  [text, { width: 10 }, '  The quick \n  brown fox \t\n  jumps over \n  the lazy \n  dog'],
  [text, { width: 10, trim: true }, '  The quick\n  brown fox\n  jumps over\n  the lazy\n  dog'],
  [
    text,
    { width: 10, trim: true, indent: '', newline: '\n\n' },
    'The quick\n\nbrown fox\n\njumps over\n\nthe lazy\n\ndog',
  ],
  ['incomprehensibilities', { width: 5, cut: true, indent: '' }, 'incom\nprehe\nnsibi\nlitie\ns'],
];

for (const [input, options, expected] of cases) {
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, library, input, JSON.stringify(options)], {
    encoding: 'utf8',
  });
  if (JSON.parse(stdout || 'null') !== expected) fail(`${JSON.stringify(options)}: ${stdout}${stderr}`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
