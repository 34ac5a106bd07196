import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder, createRepository, git, gitBytes, open, write } from './repository.ts';

interface Bait {
  name: string;
  /** Lays the bait in `dir`; `script` is a program that leaves its mark. */
  lay(dir: string, script: string): Promise<void>;
  /** Whether an agent that may write the work tree alone can lay it. */
  inTree?: true;
  /** What plain git does that takes the bait. */
  control(dir: string): void;
}

const tolerant = (dir: string, ...args: string[]): void => {
  try {
    gitBytes(dir, args);
  } catch (error) {
    // A bait that fails is as good as one that works: what counts is that it ran.
    if (!(error instanceof Error && 'status' in error)) throw error;
  }
};

const layBare = async (folder: string, script: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  git(folder, 'init', '-q', '--bare');
  git(folder, 'config', 'core.bare', 'false');
  git(folder, 'config', 'core.worktree', '.');
  git(folder, 'config', 'core.fsmonitor', script);
};

const BAITS: readonly Bait[] = [
  {
    name: 'a filter driver that attributes choose',
    lay: async (dir, script) => {
      for (const verb of ['clean', 'smudge']) git(dir, 'config', `filter.evil.${verb}`, script);
      await write(dir, { '.gitattributes': '* filter=evil\n' });
    },
    control: (dir) => tolerant(dir, 'add', '--renormalize', '.'),
  },
  {
    name: 'a process filter that must succeed',
    lay: async (dir, script) => {
      git(dir, 'config', 'filter.evil.process', script);
      git(dir, 'config', 'filter.evil.required', 'true');
      await write(dir, { '.gitattributes': '* filter=evil\n' });
    },
    control: (dir) => tolerant(dir, 'add', '--renormalize', '.'),
  },
  {
    name: 'diff drivers',
    lay: async (dir, script) => {
      git(dir, 'config', 'diff.evil.textconv', script);
      git(dir, 'config', 'diff.external', script);
      await write(dir, { '.gitattributes': '* diff=evil\n' });
    },
    control: (dir) => tolerant(dir, 'diff', '--ext-diff'),
  },
  {
    name: "fsmonitor of the user's own repository",
    lay: async (dir, script) => {
      git(dir, 'config', 'core.fsmonitor', script);
    },
    control: (dir) => tolerant(dir, 'status'),
  },
  {
    name: 'fsmonitor of a nested repository',
    inTree: true,
    lay: async (dir, script) => {
      git(dir, 'init', '-q', 'sub/nested');
      git(join(dir, 'sub/nested'), 'config', 'core.fsmonitor', script);
      await write(dir, { 'sub/nested/x.txt': 'x' });
    },
    control: (dir) => tolerant(join(dir, 'sub/nested'), 'status'),
  },
  {
    name: 'fsmonitor of a submodule',
    lay: async (dir, script) => {
      const inner = await createRepository({ 'inner.txt': 'inner\n' });
      git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'module');
      git(dir, 'commit', '-qm', 'submodule');
      git(join(dir, 'module'), 'config', 'core.fsmonitor', script);
      await write(dir, { 'module/inner.txt': 'changed\n' });
    },
    control: (dir) => tolerant(dir, 'status'),
  },
  {
    name: 'hooks',
    lay: async (dir, script) => {
      const run = await readFile(script, 'utf8');
      const names = ['post-index-change', 'post-checkout', 'pre-commit', 'applypatch-msg', 'reference-transaction'];
      await write(dir, Object.fromEntries(names.map((name) => [`.git/hooks/${name}`, { run }])));
    },
    control: (dir) => tolerant(dir, 'add', 'a.txt'),
  },
  {
    name: 'hooks in a folder that the config names',
    inTree: true,
    lay: async (dir, script) => {
      await write(dir, { 'hooks/post-index-change': { run: await readFile(script, 'utf8') } });
      git(dir, 'config', 'core.hooksPath', 'hooks');
    },
    control: (dir) => tolerant(dir, 'add', 'a.txt'),
  },
  {
    name: 'a bare repository in a subfolder',
    inTree: true,
    lay: (dir, script) => layBare(join(dir, 'sub/bare'), script),
    control: (dir) => tolerant(join(dir, 'sub/bare'), 'status'),
  },
];

const useAll = async (dir: string): Promise<void> => {
  const { workspace } = await open(dir);
  const { base } = workspace;
  await write(dir, { 'a.txt': 'agent\n', 'sub/b.txt': 'agent\n', 'new.txt': 'new\n' });
  const tree = await workspace.snapshot();
  const { patch } = await workspace.diff(base.tree, tree);
  expect(await workspace.proves(patch, tree)).toBe(true);
  await workspace.ignoredPaths();
  await workspace.withPathsOf(tree, base.tree, ['a.txt']);
  await workspace.checkout(tree, join(await createFolder(), 'out'));
  await workspace.read('HEAD', 'a.txt');
  await workspace.restore(base.tree);
  expect(await workspace.snapshot()).toBe(base.tree);
};

const createTrap = async (): Promise<{ script: string; sprung(): Promise<boolean> }> => {
  const folder = await createFolder();
  const mark = join(folder, 'mark');
  const script = join(folder, 'script');
  await write(folder, { script: { run: `#!/bin/sh\necho ran >> '${mark}'\nexit 1\n` } });
  return {
    script,
    sprung: async () => {
      const found = await readFile(mark, 'utf8').catch(() => '');
      await rm(mark, { force: true });
      return found !== '';
    },
  };
};

describe('nothing that a repository names is executed', () => {
  it.each(BAITS)('$name', async ({ lay, control }) => {
    const dir = await createRepository({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
    const trap = await createTrap();
    await lay(dir, trap.script);
    await trap.sprung();
    await writeFile(join(dir, 'a.txt'), 'touched\n');
    await useAll(dir);
    expect(await trap.sprung()).toBe(false);
    await writeFile(join(dir, 'a.txt'), 'touched again\n');
    control(dir);
    expect(await trap.sprung()).toBe(true);
    // Once more with what plain git left in the index.
    await useAll(join(dir, 'sub'));
    expect(await trap.sprung()).toBe(false);
  });

  it.each(BAITS.filter((bait) => bait.inTree))(
    '$name, laid by the agent while the run goes on',
    async ({ lay, control }) => {
      const dir = await createRepository({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
      const trap = await createTrap();
      const { workspace } = await open(dir);
      await lay(dir, trap.script);
      await trap.sprung();
      await writeFile(join(dir, 'a.txt'), 'touched\n');
      const tree = await workspace.snapshot();
      await workspace.diff(workspace.base.tree, tree);
      await workspace.checkout(tree, join(await createFolder(), 'out'));
      expect(await trap.sprung()).toBe(false);
      control(dir);
      expect(await trap.sprung()).toBe(true);
      await workspace.restore(workspace.base.tree);
      expect(await trap.sprung()).toBe(false);
    },
  );

  it('pipes where git reads its rules keep nothing from its end', async () => {
    const dir = await createRepository({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
    const { workspace } = await open(dir);
    execFileSync('mkfifo', [join(dir, '.gitignore'), join(dir, 'sub/.gitattributes')]);
    await writeFile(join(dir, 'sub/b.txt'), 'touched\n');
    const tree = await workspace.snapshot();
    expect(await workspace.changedPaths(workspace.base.tree, tree)).toEqual([{ path: 'sub/b.txt', kind: 'update' }]);
    expect(await workspace.removeStray()).toBe(2);
  });

  it('a git program that lies in the workspace is passed over', async () => {
    const dir = await createRepository({ 'a.txt': 'a\n' });
    const trap = await createTrap();
    await write(dir, { 'node_modules/.bin/git': { run: await readFile(trap.script, 'utf8') } });
    const path = `${join(dir, 'node_modules/.bin')}:node_modules/.bin:${process.env['PATH']}`;
    await open(dir, { path });
    expect(await trap.sprung()).toBe(false);
    await expect(open(dir, { path: join(dir, 'node_modules/.bin') })).rejects.toMatchObject({ code: 'git_missing' });
  });
});
