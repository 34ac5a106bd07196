// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts, not templates
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { decide } from '../../src/policy/decide.ts';
import { loadText } from './policy-of.ts';

const PROGRAMS = [
  'bash',
  'sh',
  'env',
  'xargs',
  'find',
  'timeout',
  'nice',
  'nohup',
  'stdbuf',
  'setsid',
  'cat',
  'true',
  'tee',
];

function findProgram(name: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this folder
    }
  }
  return null;
}

const programs = PROGRAMS.map((name) => [name, findProgram(name)] as const);
const isMissing = programs.some(([, path]) => path === null);

const dir = mkdtempSync(join(tmpdir(), 'belay-bash-'));
const [bin, work, log, stdin] = [join(dir, 'bin'), join(dir, 'work'), join(dir, 'log'), join(dir, 'stdin')];
writeFileSync(stdin, 'push\n');
mkdirSync(bin);
mkdirSync(work);
for (const [name, path] of programs) if (path !== null) symlinkSync(path, join(bin, name));
// a git that only says what it was asked for
writeFileSync(
  join(bin, 'git'),
  `#!${findProgram('sh') ?? '/bin/sh'}\n[ "$1" = -C ] && shift 2\n[ "$1" = push ] && echo pushed >> ${log}\nexit 0\n`,
);
chmodSync(join(bin, 'git'), 0o755);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A script may fail or stop early: only what it ran counts. */
async function pushes(script: string): Promise<boolean> {
  rmSync(log, { force: true });
  const input = openSync(stdin, 'r');
  const env = { PATH: bin, HOME: work, G: 'git', P: 'push', GP: 'git push' };
  const child = spawn(join(bin, 'bash'), ['-c', script], {
    cwd: work,
    env,
    stdio: [input, 'ignore', 'ignore'],
    timeout: 10_000,
  });
  await once(child, 'close');
  closeSync(input);
  return existsSync(log);
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
let marks = 0;
const mark = () => `END${++marks}`;
const heredoc = (command: string, body: string, quoted: boolean) => {
  const end = mark();
  return `${command} <<${quoted ? `'${end}'` : end}\n${body}\n${end}\n`;
};

const PUSHES = [
  'git push',
  'git push origin main',
  'git -C . push',
  "g''it pu\\sh",
  "$'\\x67it' push",
  '$G push',
  '${G} $P',
  '$GP',
  'git "$P"',
  'git {push,x}',
  'git $(echo push)',
  'git `echo push`',
  'git ${nothing:-push}',
  '{git,push}',
  '"$(echo git)" push',
  'git-missing || git push',
];
const OTHERS = ['git status', 'echo git push', 'true', ':', 'git commit -m "git push"', "echo '$(git push)'"];

/** Ways to run a whole script, whatever is in it. */
const AROUND: readonly ((script: string) => string)[] = [
  (script) => `sh -c ${quote(script)}`,
  (script) => `bash -ec ${quote(script)}`,
  (script) => `bash -o pipefail -c ${quote(script)}`,
  (script) => `eval ${quote(script)}`,
  (script) => `env -S "bash -c" ${quote(script)}`,
  (script) => `find . -maxdepth 0 -exec sh -c ${quote(script)} ';'`,
  (script) => `echo x | xargs -I{} bash -c ${quote(script)}`,
  (script) => `printf '%s' ${quote(script)} | bash`,
  (script) => `bash <<< ${quote(script)}`,
  (script) => `source <(printf '%s\\n' ${quote(script)})`,
  (script) => `( trap ${quote(script)} EXIT )`,
  (script) => heredoc('bash', script, true),
  (script) => heredoc('{ sh; }', script, true),
  (script) => heredoc('cat', `$(\n${script}\n)`, false),
  (script) => `echo "$(\n${script}\n)"`,
  (script) => `x=$(\n${script}\n)`,
  (script) => `: \${x:-$(\n${script}\n)}`,
  (script) => `cat < <(\n${script}\n)`,
  (script) => `echo $(( 1 + $(\n${script}\necho 1) )) 2>&1`,
  (script) => `f() {\n${script}\n}; f`,
  (script) => `(\n${script}\n)`,
  (script) => `if true; then\n${script}\nfi`,
  (script) => `for i in 1; do\n${script}\ndone`,
  (script) => `case a in a)\n${script}\n;; esac`,
  (script) => `{\n${script}\n} &\nwait`,
  (script) => `! {\n${script}\n}`,
  (script) => `true && {\n${script}\n}`,
];

/** Ways to run one command. */
const BEFORE: readonly string[] = [
  'A=1',
  'env A=1',
  'env -i PATH="$PATH"',
  'env -',
  'timeout 5',
  'timeout -k 1 5',
  'nice -n 1',
  'nice -5',
  'nohup',
  'stdbuf -oL',
  'setsid -w',
  'command',
  'command -p env PATH="$PATH"',
  'time',
  '!',
  'xargs',
  'xargs -n1',
  'echo a | xargs -I{}',
  '>out',
  '2>&1',
  'builtin command',
];
const SPECIAL = [
  'echo push | xargs git',
  'echo push | xargs -I% git %',
  'find . -maxdepth 0 -exec git push \\;',
  'g() { git "$@"; }; g push',
  'shopt -s expand_aliases\nalias g=git\ng push',
  "shopt -s expand_aliases\nalias p='git push'\np",
  'a=(git push); "${a[@]}"',
  'while read -r l; do git "$l"; done',
  'set -- push; git "$@"',
  "env -S 'git push'",
  "env '-Sgit push'",
  'exec git push',
  '( exec -a x git push )',
  'echo x > >(git push); true',
  'read -r p <<< push; git $p',
  'coproc git push; wait',
  'cd . && eval $GP',
];

const simple = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PUSHES) },
  { weight: 2, arbitrary: fc.constantFrom(...OTHERS) },
);
const command = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.array(fc.constantFrom(...BEFORE), { maxLength: 2 }), simple)
      .map(([before, one]) => [...before, one].join(' ')),
  },
  { weight: 1, arbitrary: fc.constantFrom(...SPECIAL) },
);
const lines = fc.array(command, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('\n'));
const script = fc
  .tuple(lines, fc.array(fc.constantFrom(...AROUND), { maxLength: 2 }))
  .map(([inner, around]) => around.reduce((text, wrap) => wrap(text), inner));

const { policy } = await loadText('version: 1\ncommands: {deny: [git push]}\n');

test.skipIf(isMissing)(
  'what bash really runs is denied: no script gets a push past the rule',
  { timeout: 120_000 },
  async () => {
    let pushed = 0;
    await fc.assert(
      fc.asyncProperty(script, async (text) => {
        if (decide({ kind: 'command', command: text }, policy).decision === 'deny') {
          pushed++;
          return;
        }
        expect(await pushes(text)).toBe(false);
      }),
      { numRuns: 500 },
    );
    expect(pushed).toBeGreaterThan(50);
  },
);

test.each([': ${x:-$(\n>out ! git push\n)}', '>out ! git push', '! git push'])('%j is a push', (text) => {
  expect(decide({ kind: 'command', command: text }, policy).decision).toBe('deny');
});

test.skipIf(isMissing)('the stand-in for git does see a push, so that the test above can fail', async () => {
  expect([await pushes('git push'), await pushes('git -C . push'), await pushes('git status; echo git push')]).toEqual([
    true,
    true,
    false,
  ]);
});
