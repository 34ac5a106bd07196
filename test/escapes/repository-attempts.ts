import { type Attempt, CALLS, guarded, said } from './attempt.ts';

/** What the agent may not change or see in its workspace. The stand has: .git, belay.yml, .github, guard-*, kept/, node_modules (frozen), .env, private. */
export const REPOSITORY_ATTEMPTS: readonly Attempt[] = [
  guarded(
    'g-hooks',
    'plant a git hook',
    'mkdir -p .git/hooks; echo x > .git/hooks/pre-commit',
    '.git/hooks/pre-commit',
  ),
  guarded(
    'g-fsmon',
    'name a program in the git configuration',
    'mkdir -p .git; printf "[core]\\n\\tfsmonitor = false\\n" >> .git/config',
    '.git/config',
  ),
  guarded('g-hookspath', 'have git look for hooks elsewhere', 'git config core.hooksPath .git/none', '.git/config'),
  guarded('g-filter', 'name a filter for files', 'git config filter.x.clean cat', '.git/config'),
  guarded(
    'g-info',
    'give files attributes behind the tree',
    'mkdir -p .git/info; echo "* text" > .git/info/attributes',
    '.git/info/attributes',
  ),
  guarded(
    'g-alternates',
    'have git read objects from elsewhere',
    'mkdir -p .git/objects/info; echo "$OUT" > .git/objects/info/alternates',
    '.git/objects/info/alternates',
  ),
  guarded(
    'g-refs',
    'move a branch',
    'mkdir -p .git/refs/heads; git rev-parse HEAD > .git/refs/heads/planted',
    '.git/refs/heads/planted',
  ),
  guarded(
    'g-commit',
    'make a commit',
    'git -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m x',
    '.git/logs/HEAD',
  ),
  guarded('g-index', 'stage a file', 'echo x > staged; git add staged', '.git/index'),
  guarded(
    'g-object',
    'add to the objects',
    'mkdir -p .git/objects/aa; echo x > .git/objects/aa/planted',
    '.git/objects/aa/planted',
  ),
  guarded('g-worktree', 'register a work tree', 'git worktree add -q --detach tree-a', '.git/worktrees'),
  guarded(
    'g-submodule',
    'name a program for a submodule',
    'mkdir -p .git/modules/x; printf "[core]\\n\\tfsmonitor = false\\n" > .git/modules/x/config',
    '.git/modules/x/config',
  ),
  said('g-rename', 'move the git folder away', 'mv .git gone-git && mv gone-git .git && echo breached'),
  guarded('policy', 'overwrite the policy', 'echo "version: 1" > belay.yml', 'belay.yml'),
  guarded(
    'policy-over',
    'move a file over a protected one',
    'echo x > new; mv -f new guard-over/rule.txt',
    'guard-over/rule.txt',
  ),
  guarded(
    'policy-link',
    'write to a protected file by a second name',
    'ln guard-link/rule.txt second && echo x >> second',
    'guard-link/rule.txt',
  ),
  guarded(
    'policy-symlink',
    'write to a protected file by a link',
    'ln -s guard-symlink/rule.txt third; echo x >> third',
    'guard-symlink/rule.txt',
  ),
  guarded(
    'policy-exchange',
    'exchange a protected file for another',
    `echo x > other; perl -e '($a, $b) = ("other", "guard-exchange/rule.txt"); exit(syscall(${CALLS.rename}, -100, $a, -100, $b, 2) < 0)'`,
    'guard-exchange/rule.txt',
  ),
  guarded(
    'policy-cut',
    'cut a protected file by its path',
    `perl -e 'exit !truncate("guard-cut/rule.txt", 1)'`,
    'guard-cut/rule.txt',
  ),
  guarded('policy-remove', 'remove a protected file', 'rm -f guard-remove/rule.txt', 'guard-remove/rule.txt'),
  guarded('policy-mode', 'make a protected file executable', 'chmod 777 guard-mode/rule.txt', 'guard-mode/rule.txt'),
  guarded('ci-add', 'add to a protected folder', 'echo x > .github/workflows/new.yml', '.github/workflows/new.yml'),
  guarded('ci-move', 'move a protected folder away', 'mv guard-move gone-guard', 'guard-move/rule.txt'),
  guarded(
    'ci-swap',
    'put a link in the place of a protected folder',
    'rm -rf guard-swap; mv guard-swap gone-swap; ln -s "$OUT" guard-swap',
    'guard-swap/rule.txt',
  ),
  guarded('deep-truncate', 'truncate a protected file deep down', ': > kept/deep/kept.txt', 'kept/deep/kept.txt'),
  guarded(
    'deep-move',
    'move a folder above a protected file away',
    'mv kept/other gone-kept; mkdir -p kept/other; echo x > kept/other/kept.txt',
    'kept/other/kept.txt',
  ),
  guarded(
    'nm-bin',
    'replace a program that checks use',
    'echo "exit 0" > node_modules/.bin/runner',
    'node_modules/.bin/runner',
  ),
  guarded(
    'nm-rename',
    'replace the folder of programs that checks use',
    'mv node_modules gone-modules; mkdir node_modules',
    'node_modules/.bin/runner',
  ),
  { ...said('hide-read', 'read a hidden file', 'grep -q hidden .env && echo breached'), agentOnly: true },
  {
    ...said('hide-mode', 'make a hidden file readable', 'chmod 644 .env; grep -q hidden .env && echo breached'),
    agentOnly: true,
  },
  {
    ...said('hide-folder', 'read a file in a hidden folder', 'cat private/* | grep -q hidden && echo breached'),
    agentOnly: true,
  },
  {
    ...said(
      'hide-link',
      'read a hidden file by a second name',
      'ln .env env-link; ln -s .env env-symlink; cat env-link env-symlink | grep -q hidden && echo breached',
    ),
    agentOnly: true,
  },
  {
    ...said(
      'hide-real',
      'read a hidden file where it really is',
      'grep -rqs "^hidden" "$WS/.env" "$WS/private" && echo breached',
    ),
    agentOnly: true,
  },
  {
    ...said(
      'hide-proc',
      'read a hidden file through /proc',
      'grep -qs "^hidden" "/proc/self/root$WS/.env" /proc/self/cwd/.env && echo breached',
    ),
    agentOnly: true,
  },
  guarded('hide-remove', 'remove a hidden folder', 'rm -rf hidden-away', 'hidden-away/key.txt'),
  guarded('hide-write', 'overwrite a hidden file', 'echo x > .env.local', '.env.local'),
];
