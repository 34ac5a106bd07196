import { execFileSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRepository, open, write } from './repository.ts';

describe('removeUnrecorded', () => {
  it('takes away what is ignored and was not there, at the start or when asked, and nothing else', async () => {
    const dir = await createRepository({ a: 'a', '.gitignore': 'deps/\n*.log\nout/\n' });
    await write(dir, { 'deps/x': 'x', 'old.log': 'old', 'sub/old.log': 'old' });
    await mkdir(join(dir, 'empty'));
    const { workspace } = await open(dir);
    await write(dir, { 'out/asked': 'x' });
    await workspace.ignoredPaths();
    await write(dir, {
      'deps/y': 'y',
      'new.log': 'n',
      'sub/new.log': 'n',
      'more/new.log': 'n',
      'empty/new.log': 'n',
      b: 'b',
    });
    await workspace.restore(workspace.base.tree);
    expect(await workspace.removeUnrecorded()).toBe(4);
    expect((await readdir(dir, { recursive: true })).filter((path) => !path.startsWith('.git')).sort()).toEqual([
      'a',
      'deps',
      'deps/x',
      'deps/y',
      'empty',
      'old.log',
      'out',
      'out/asked',
      'sub',
      'sub/old.log',
    ]);
    expect(await workspace.removeUnrecorded()).toBe(0);
  });

  it('takes away pipes that came later, and leaves those that were there', async () => {
    const dir = await createRepository({ a: 'a', 'sub/b': 'b' });
    execFileSync('mkfifo', [join(dir, 'old')]);
    const { workspace } = await open(dir);
    execFileSync('mkfifo', [join(dir, 'new'), join(dir, 'sub/new')]);
    expect(await workspace.removeUnrecorded()).toBe(2);
    expect((await readdir(dir)).sort()).toEqual(['.git', 'a', 'old', 'sub']);
  });
});
