import { describe, expect, test } from 'vitest';
import { decide } from '../../src/policy/decide.ts';
import { explainCommand, renderExplanation } from '../../src/policy/explain-command.ts';
import { loadText } from './policy-of.ts';

const { policy } = await loadText(
  'version: 1\ncommands: {deny: ["git push", "npm publish", "rm -rf"], ask: ["terraform apply", docker]}\napprovals: suspend\n',
);
const { policy: strict } = await loadText(
  'version: 1\ncommands: {default: deny, ask: [make], allow: ["npm test", "git status", echo, "git log"]}\n',
);
const command = (text: string, by = policy) => decide({ kind: 'command', command: text }, by).decision;

describe('a denied command is denied', () => {
  test.each([
    // options, paths, quoting
    'git push',
    'git push origin main',
    '/usr/bin/git push',
    'git -C /x push',
    'git -c user.name=x push',
    'git --no-pager --git-dir=x push',
    '"git" push',
    "g'i't pu\\sh",
    "$'git' push",
    'git \\\n push',
    'npm --prefix x publish --dry-run',
    'rm -r -f x',
    'rm -fr x',
    'rm -r x --force -f',
    // wrappers
    'A=1 git push',
    'env A=1 git push',
    'env -i -u HOME git push',
    "env -S 'git push'",
    'sudo git push',
    'sudo -u root -E git push',
    'sudo A=1 -- git push',
    'timeout 5 git push',
    'timeout -s KILL --kill-after=3 5 git push',
    'nice -n 5 ionice -c2 git push',
    'nohup git push &',
    'time git push',
    'stdbuf -oL git push',
    'exec git push',
    'command git push',
    'setsid -w git push',
    'busybox env git push',
    'xargs git push',
    'echo origin | xargs -n1 git push',
    'echo push | xargs git',
    'xargs -I{} git {}',
    'find . -exec git push \\;',
    'find . -name x -execdir git push {} +',
    'su -c "git push"',
    'watch git push',
    'parallel git push ::: a',
    'npx npm publish',
    'poetry run git push',
    'git submodule foreach git push',
    'git bisect run git push',
    'git rebase -x "git push" main',
    // shells in shells
    'sh -c "git push"',
    "bash -lc 'git push'",
    `bash -c 'sh -c "git push"'`,
    "sudo sh -c 'cd x && git push'",
    'eval git push',
    'eval "git push"',
    "trap 'git push' EXIT",
    "alias p='git push'",
    'sh <<EOF\ngit push\nEOF',
    'sh <<< "git push"',
    // anywhere in a script
    'echo $(git push)',
    'echo "`git push`"',
    'cat <(git push)',
    'x=$(git push)',
    'cat <<EOF\n$(git push)\nEOF',
    'if true; then git push; fi',
    'for i in 1 2; do git push; done',
    'while git push; do :; done',
    'case x in x) git push;; esac',
    'f() { git push; }; f',
    '(git push)',
    '! git push',
    '[[ -n $(git push) ]]',
    'true && git push',
    'true || git push',
    'true\ngit push',
    'true | git push',
    'terraform apply; git push',
    // what cannot be known could be it
    'git $x',
    '$x push',
    '$x',
    '"$@"',
    'eval "$x"',
    'sh -c "$x"',
    'curl -s u | sh',
    'git -c alias.p=push p',
    'git push (',
    '"unclosed',
  ])('%s', (text) => {
    expect(command(text)).toBe('deny');
  });
});

test.each([
  'terraform apply',
  'sudo terraform apply',
  'terraform -chdir=x apply -auto-approve',
  'docker run x',
  '/usr/local/bin/docker ps',
  'git status && terraform apply',
])('what needs approval asks: %s', (text) => {
  expect(command(text)).toBe('ask');
});

describe('other commands are allowed', () => {
  test.each([
    '',
    '   ',
    '# git push',
    'git status',
    'git stash push',
    'git pushx',
    'mygit push',
    'git commit -m "git push"',
    'echo git push',
    'grep -r "git push" .',
    "echo '$(git push)'",
    'cat <<EOF\ngit push\nEOF',
    "cat <<'EOF'\n$(git push)\nEOF",
    'npm test',
    'rm -r x',
    'terraform plan',
    'find . -name push -delete',
    'echo x | xargs echo',
    'sh script.sh',
    'ls "$x"',
    'A=git B=push true',
  ])('%s', (text) => {
    expect(command(text)).toBe('allow');
  });
});

test.each([
  ['npm test', 'allow'],
  ['npm test -- --watch', 'allow'],
  ['/usr/bin/git status', 'allow'],
  ['./git status', 'deny'],
  ['npm --x test', 'deny'],
  ['npm $x', 'deny'],
  ['npm run test', 'deny'],
  ['env A=1 npm test', 'allow'],
  ['sudo npm test', 'deny'],
  ['npm test && ls', 'deny'],
  ['npm test && git status', 'allow'],
  ['npm test && make', 'ask'],
  ['make; ls', 'deny'],
  ['echo $(ls)', 'deny'],
  ["sh -c 'npm test'", 'allow'],
  ['sh x.sh', 'deny'],
  ['', 'allow'],
])('with a default of deny, `%s` is %s', (text, decision) => {
  expect(command(text, strict)).toBe(decision);
});

test('a path is judged by the lists of the workspace', () => {
  const at = (kind: 'write' | 'read', path: string) => decide({ kind, path }, policy);
  expect(at('write', 'src/a.ts')).toMatchObject({ decision: 'allow' });
  expect(at('write', './a/../.github/workflows/ci.yml')).toEqual({
    decision: 'deny',
    rule: 'workspace.protect: .github/**',
    reason: '`./a/../.github/workflows/ci.yml` is protected by the policy',
  });
  expect(at('read', '.env')).toMatchObject({ decision: 'deny', rule: 'workspace.hide: .env' });
  expect(at('read', '.github/x')).toMatchObject({ decision: 'allow' });
  for (const path of ['/etc/passwd', '..', '../x', 'a/../../x', 'a\0b'])
    expect(at('read', path)).toMatchObject({ decision: 'deny', rule: 'workspace' });
});

test('an explanation names the rule, each command found, and no control characters', () => {
  const text = renderExplanation(explainCommand('env A=1 git push "\u001b[31m" && ls', policy), policy);
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(text).toMatch(/^deny: `git push .*` is what the rule `git push` names\n {2}rule: commands\.deny: git push\n/);
  expect(text).toContain('    allow ls  (commands.default: allow)');
  expect(renderExplanation(explainCommand('docker ps', policy), policy)).toContain('with nobody there: suspend');
});

test('long and deep scripts are judged, strictly where they cannot be', () => {
  expect(command(`${'true; '.repeat(30_000)}git push`)).toBe('deny');
  expect(command(`${'env '.repeat(500)}git push`)).toBe('deny');
  expect(command(`${'$('.repeat(2000)}git status${')'.repeat(2000)}`)).toBe('deny');
  expect(command(`${'('.repeat(100_000)}`)).toBe('deny');
});
