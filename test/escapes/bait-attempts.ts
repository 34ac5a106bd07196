/**
 * Repositories that a command leaves behind for git outside: whoever runs a plain git in them runs the command's program. belay's own
 * git must not, under any tier.
 */
export interface Bait {
  id: string;
  deed: string;
  /** Makes the bait in the folder $BAIT, whose program is `touch "$SPRUNG"`. */
  script: string;
  /** What a plain git outside does to spring it, in that folder. */
  spring: readonly (readonly string[])[];
}

const repository =
  'git init -q . && git config user.name x && git config user.email x@example.invalid && echo a > f && git add f && git commit -q -m a';
const script = (name: string): string => `printf '#!/bin/sh\\ntouch "%s"\\n' "$SPRUNG" > ${name}; chmod +x ${name}`;

export const BAITS: readonly Bait[] = [
  {
    id: 'g-nested',
    deed: 'a nested repository whose fsmonitor is a program',
    script: `${repository}; ${script('prog')}; git config core.fsmonitor "$PWD/prog"`,
    spring: [['status']],
  },
  {
    id: 'g-bare',
    deed: 'a bare repository in a folder',
    script: `git init -q --bare . && git config core.bare false && git config core.worktree "$PWD" && ${script('prog')} && git config core.fsmonitor "$PWD/prog"`,
    spring: [['status']],
  },
  {
    id: 'g-nested-hooks',
    deed: 'a nested repository with hooks',
    script: `${repository}; for h in post-index-change pre-commit post-checkout reference-transaction; do ${script('.git/hooks/"$h"')}; done`,
    spring: [
      ['add', '.'],
      ['commit', '-q', '--allow-empty', '-m', 'b'],
    ],
  },
  {
    id: 'g-nested-filter',
    deed: 'a nested repository with a filter for its files',
    script: `${repository}; ${script('prog')}; git config filter.x.clean "$PWD/prog"; echo '* filter=x' > .gitattributes; echo b > g`,
    spring: [['add', 'g']],
  },
  {
    id: 'g-nested-process',
    deed: 'a nested repository with a long-running filter',
    script: `${repository}; ${script('prog')}; git config filter.x.process "$PWD/prog"; echo '* filter=x' > .gitattributes; echo b > g`,
    spring: [['add', 'g']],
  },
  {
    id: 'g-nested-textconv',
    deed: 'a nested repository that shows differences by a program',
    script: `${repository}; ${script('prog')}; git config diff.x.textconv "$PWD/prog"; echo '* diff=x' > .gitattributes; echo b > f`,
    spring: [['diff']],
  },
  {
    id: 'g-nested-extdiff',
    deed: 'a nested repository with an external diff',
    script: `${repository}; ${script('prog')}; git config diff.external "$PWD/prog"; echo b > f`,
    spring: [['diff']],
  },
  {
    id: 'g-nested-editor',
    deed: 'a nested repository whose editor is a program',
    script: `${repository}; ${script('prog')}; git config core.editor "$PWD/prog"`,
    spring: [['commit', '--allow-empty']],
  },
  {
    id: 'g-nested-include',
    deed: 'a nested repository that includes a configuration',
    script: `${repository}; ${script('prog')}; printf '[core]\\n\\tfsmonitor = %s\\n' "$PWD/prog" > conf; git config include.path "$PWD/conf"`,
    spring: [['status']],
  },
  {
    id: 'g-gitfile',
    deed: 'a .git file that points to a repository elsewhere in the tree',
    script: `mkdir real && (cd real && ${repository} && ${script('prog')} && git config core.fsmonitor "$PWD/prog"); printf 'gitdir: real/.git\\n' > .git`,
    spring: [['status']],
  },
  {
    id: 'g-nested-gpg',
    deed: 'a nested repository that signs by a program',
    script: `${repository}; ${script('prog')}; git config commit.gpgSign true; git config gpg.program "$PWD/prog"`,
    spring: [['commit', '-q', '--allow-empty', '-m', 'b']],
  },
  {
    id: 'g-nested-ssh',
    deed: 'a nested repository that connects by a program',
    script: `${repository}; ${script('prog')}; git config core.sshCommand "$PWD/prog"; git remote add origin ssh://host.invalid/x`,
    spring: [['fetch', '-q']],
  },
  {
    id: 'g-nested-uploadpack',
    deed: 'a nested repository whose remote is served by a program',
    script: `${repository}; ${script('prog')}; git remote add origin "$PWD"; git config remote.origin.uploadpack "$PWD/prog"`,
    spring: [['fetch', '-q']],
  },
  {
    id: 'g-nested-merge',
    deed: 'a nested repository that merges by a program',
    script: `${repository}; ${script('prog')}; git config merge.x.driver "$PWD/prog"; echo '* merge=x' > .git/info/attributes; git checkout -q -b b; echo b > f; git commit -qam b; git checkout -q -; echo c > f; git commit -qam c`,
    spring: [['merge', '-q', 'b']],
  },
  {
    id: 'g-nested-alternate',
    deed: 'a nested repository that asks a program for the refs of another one',
    script: `${repository}; ${script('prog')}; git clone -q --bare . other; mkdir -p .git/objects/info; echo "$PWD/other/objects" > .git/objects/info/alternates; git config core.alternateRefsCommand "$PWD/prog"; git remote add origin "$PWD/other"`,
    spring: [['fetch', '-q', '--refetch']],
  },
  {
    id: 'g-submodule',
    deed: 'a submodule whose configuration names a program',
    script: `${repository}; ${script('prog')}; git -c protocol.file.allow=always submodule --quiet add "$PWD/.git" sub; git -C sub config core.fsmonitor "$PWD/prog"`,
    spring: [['status']],
  },
  {
    id: 'g-worktree-config',
    deed: 'a nested repository with a configuration of its worktree',
    script: `${repository}; ${script('prog')}; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$PWD/prog"`,
    spring: [['status']],
  },
];
