// No command line may change a prototype. The parser runs in a child process, so that it cannot end its judge.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const parser = fileURLToPath(new URL('../index.js', import.meta.url));
const program = `
  require(process.argv[1])(JSON.parse(process.argv[2]));
  const seen = [{}, [], '', 0, () => {}].map((value) => value.polluted === undefined ? 'clean' : 'polluted');
  process.stdout.write(JSON.stringify(seen));
`;
const attacks = [
  ['--_.constructor.constructor.prototype.polluted', 'yes'],
  ['--_.concat.constructor.prototype.polluted', 'yes'],
  ['--a', '--a.constructor.prototype.polluted', 'yes'],
  ['--a.b', '1', '--a.b.toFixed.constructor.prototype.polluted', 'yes'],
  ['--__proto__.polluted', 'yes'],
  ['--a.__proto__.polluted', 'yes'],
];

for (const args of attacks) {
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, parser, JSON.stringify(args)], {
    encoding: 'utf8',
  });
  if (stdout !== '["clean","clean","clean","clean","clean"]') fail(`${args.join(' ')}: ${stdout}${stderr}`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
