// What the parser could do before, it can do after.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const parser = fileURLToPath(new URL('../index.js', import.meta.url));
const program =
  'process.stdout.write(JSON.stringify(require(process.argv[1])(JSON.parse(process.argv[2]), JSON.parse(process.argv[3]))))';
const cases = [
  [['-a', 'beep', '-b', 'boop', 'x'], {}, { _: ['x'], a: 'beep', b: 'boop' }],
  [
    ['--server.port', '80', '--server.host=here', '--server.tags.a', '1'],
    {},
    { _: [], server: { port: 80, host: 'here', tags: { a: 1 } } },
  ],
  [['--n', '1', '--n', '2', '--no-color', '--', '--raw'], {}, { _: ['--raw'], n: [1, 2], color: false }],
  [['--prototype', '3', '--key.prototype', '4'], {}, { _: [], prototype: 3, key: { prototype: 4 } }],
  [['-v', '5'], { boolean: ['v'], alias: { v: 'verbose' } }, { _: [5], v: true, verbose: true }],
];

for (const [args, options, expected] of cases) {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['-e', program, parser, JSON.stringify(args), JSON.stringify(options)],
    { encoding: 'utf8' },
  );
  if (!isDeepStrictEqual(JSON.parse(stdout || 'null'), expected)) fail(`${args.join(' ')}: ${stdout}${stderr}`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
