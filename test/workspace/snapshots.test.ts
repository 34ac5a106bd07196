import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, createFolder, createRepository, type Files, git, open, stateOf, treeOf, write } from './repository.ts';

const FILES: Files = {
  'a.txt': 'a\n',
  'run.sh': { run: '#!/bin/sh\n' },
  'sub/b.txt': 'b\n',
  link: { link: 'a.txt' },
};
const COMMITTED = {
  'a.txt': '100644 a\n',
  link: '120000 a.txt',
  'run.sh': '100755 #!/bin/sh\n',
  'sub/b.txt': '100644 b\n',
};

describe('a snapshot', () => {
  it('of a clean start is the tree of HEAD, and the workspace says where everything is', async () => {
    const dir = await createRepository(FILES);
    const opened = await open(dir);
    const { workspace } = opened;
    expect(workspace.base).toEqual({
      commit: git(dir, 'rev-parse', 'HEAD'),
      dirty: false,
      git: true,
      tree: git(dir, 'rev-parse', 'HEAD^{tree}'),
    });
    expect({
      root: workspace.root,
      dir: workspace.dir,
      foreign: workspace.foreign,
      gitDirs: workspace.gitDirs,
    }).toEqual({ root: dir, dir, foreign: [], gitDirs: [join(dir, '.git')] });
    expect(treeOf(opened, await workspace.snapshot())).toEqual(COMMITTED);
  });

  it('of a dirty start holds what is modified, staged, untracked and deleted, and leaves the repository as it is', async () => {
    const dir = await createRepository({ ...FILES, 'gone.txt': 'gone\n', '.gitignore': 'ignored/\n*.log\n' });
    await write(dir, { 'a.txt': 'stashed\n' });
    git(dir, 'stash');
    await write(dir, { 'staged.txt': 'staged\n', 'both.txt': 'index\n' });
    git(dir, 'add', 'staged.txt', 'both.txt');
    await write(dir, {
      'a.txt': 'modified\n',
      'both.txt': 'disk\n',
      'new/c.txt': 'c\n',
      'ignored/x': 'x',
      'y.log': 'y',
    });
    await rm(join(dir, 'gone.txt'));
    const before = await stateOf(dir);

    const opened = await open(dir);
    const { workspace } = opened;
    const start = {
      ...COMMITTED,
      '.gitignore': '100644 ignored/\n*.log\n',
      'a.txt': '100644 modified\n',
      'both.txt': '100644 disk\n',
      'new/c.txt': '100644 c\n',
      'staged.txt': '100644 staged\n',
    };
    expect(workspace.base).toMatchObject({ commit: git(dir, 'rev-parse', 'HEAD'), dirty: true });
    expect(treeOf(opened, workspace.base.tree)).toEqual(start);
    expect(await workspace.ignoredPaths()).toEqual(['ignored', 'y.log']);

    await write(dir, { 'a.txt': 'agent\n', 'sub/b.txt': { run: 'b\n' }, 'agent.txt': 'agent\n' });
    await rm(join(dir, 'new'), { recursive: true });
    const tree = await workspace.snapshot();
    const { 'new/c.txt': _, ...rest } = start;
    expect(treeOf(opened, tree)).toEqual({
      ...rest,
      'a.txt': '100644 agent\n',
      'agent.txt': '100644 agent\n',
      'sub/b.txt': '100755 b\n',
    });
    await workspace.diff(workspace.base.tree, tree);
    await workspace.withPathsOf(tree, workspace.base.tree, ['a.txt']);
    await workspace.checkout(tree, join(await createFolder(), 'out'));
    await workspace.restore(workspace.base.tree);
    expect(await stateOf(dir)).toEqual(before);
  });

  it('of a folder without git, and of a repository without a commit, holds its files', async () => {
    const plain = await createFolder();
    await write(plain, FILES);
    const outside = await open(plain);
    expect(outside.workspace.base).toMatchObject({ commit: null, dirty: false, git: false });
    expect(treeOf(outside, outside.workspace.base.tree)).toEqual(COMMITTED);

    git(plain, 'init', '-q');
    const before = await stateOf(plain);
    const unborn = await open(plain);
    expect(unborn.workspace.base).toMatchObject({ commit: null, dirty: false, git: true });
    await write(plain, { 'c.txt': 'c' });
    expect(treeOf(unborn, await unborn.workspace.snapshot())).toEqual({ ...COMMITTED, 'c.txt': '100644 c' });
    await rm(join(plain, 'c.txt'));
    expect(await stateOf(plain)).toEqual(before);
  });

  it('of a subfolder is that of the whole repository', async () => {
    const dir = await createRepository(FILES);
    const opened = await open(join(dir, 'sub'));
    expect([opened.workspace.root, opened.workspace.dir]).toEqual([dir, join(dir, 'sub')]);
    await write(dir, { 'a.txt': 'above\n', 'sub/b.txt': 'below\n' });
    expect(treeOf(opened, await opened.workspace.snapshot())).toMatchObject({
      'a.txt': '100644 above\n',
      'sub/b.txt': '100644 below\n',
    });
  });

  it('works in a linked worktree and in a shallow clone', async () => {
    const dir = await createRepository(FILES);
    await write(dir, { 'a.txt': 'second\n' });
    commit(dir);
    const linked = join(await createFolder(), 'linked');
    git(dir, 'worktree', 'add', '-q', linked, 'HEAD~1');
    const before = await stateOf(dir);
    const tree = await open(linked);
    expect(tree.workspace.gitDirs).toEqual([
      join(linked, '.git'),
      join(dir, '.git/worktrees/linked'),
      join(dir, '.git'),
    ]);
    expect(treeOf(tree, tree.workspace.base.tree)).toEqual(COMMITTED);
    expect(await stateOf(dir)).toEqual(before);

    const shallow = join(await createFolder(), 'shallow');
    git(dir, 'clone', '-q', '--depth', '1', `file://${dir}`, shallow);
    const { workspace } = await open(shallow);
    expect(workspace.base).toMatchObject({ dirty: false, tree: git(dir, 'rev-parse', 'HEAD^{tree}') });
    await expect(workspace.resolveTrustRef('HEAD~1')).rejects.toMatchObject({ code: 'trust_ref' });
    expect(await workspace.resolveTrustRef('HEAD')).toBe(workspace.base.commit);
  });

  it('never fetches what a partial clone lacks', async () => {
    const dir = await createRepository(FILES);
    const old = git(dir, 'rev-parse', 'HEAD');
    await write(dir, { 'a.txt': 'second\n' });
    commit(dir);
    git(dir, 'config', 'uploadpack.allowFilter', 'true');
    const partial = join(await createFolder(), 'partial');
    git(dir, 'clone', '-q', '--filter=blob:none', `file://${dir}`, partial);
    const { workspace } = await open(partial);
    const before = await stateOf(partial);
    await expect(workspace.read(old, 'a.txt')).rejects.toMatchObject({ code: 'missing_object' });
    expect(await stateOf(partial)).toEqual(before);
    expect(git(partial, 'show', `${old}:a.txt`)).toBe('a');
  });

  it('leaves the contents of submodules and nested repositories out and names them', async () => {
    const inner = await createRepository({ 'inner.txt': 'inner\n' });
    const dir = await createRepository(FILES);
    git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'module');
    git(dir, 'commit', '-qm', 'submodule');
    git(dir, 'clone', '-q', inner, 'sub/nested');
    const opened = await open(dir);
    const { workspace } = opened;
    expect(workspace.foreign).toEqual(['module', 'sub/nested']);
    const before = treeOf(opened, workspace.base.tree);
    expect(Object.keys(before)).toEqual(['.gitmodules', 'a.txt', 'link', 'module', 'run.sh', 'sub/b.txt']);
    await write(dir, { 'module/inner.txt': 'changed\n', 'sub/nested/new.txt': 'new\n' });
    commit(join(dir, 'module'));
    expect(await workspace.snapshot()).toBe(workspace.base.tree);
    const out = join(await createFolder(), 'out');
    await workspace.checkout(workspace.base.tree, out);
    await expect(workspace.list(workspace.base.tree)).resolves.not.toContain('module');
  });
});
