import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolder, createRepository, git, open, photograph, write } from './repository.ts';

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

  it('takes away pipes and sockets that came later, and leaves those that were there or that a program has', async () => {
    const dir = await createRepository({ a: 'a', 'sub/b': 'b' });
    const bind = 'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[0])) or die $!';
    const left = (name: string) => execFileSync('perl', ['-MSocket', '-e', bind, name], { cwd: dir });
    const names = async () => (await readdir(dir)).filter((name) => name !== '.git').sort();
    execFileSync('mkfifo', [join(dir, 'old')]);
    const { workspace } = await open(dir);
    execFileSync('mkfifo', [join(dir, 'of-setup')]);
    left('of-setup.sock');
    await workspace.ignoredPaths();
    execFileSync('mkfifo', [join(dir, 'new'), join(dir, 'sub/new')]);
    left('new.sock');
    // Longer than the address of a socket may be.
    const deep = join('sub', 'd'.repeat(100), 'e'.repeat(100));
    await mkdir(join(dir, deep), { recursive: true });
    left('moved.sock');
    await rename(join(dir, 'moved.sock'), join(dir, deep, 'moved.sock'));
    const server = createServer().listen(join(dir, 'somebody.sock'));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    // As ssh does: bound by a name that nobody sees, and renamed.
    const renamed = createServer().listen(join(dir, 'before.sock'));
    onTestFinished(() => void renamed.close());
    await once(renamed, 'listening');
    await rename(join(dir, 'before.sock'), join(dir, 'renamed.sock'));
    // A change that is kept stands on what setup made; what is put back does not.
    expect(await workspace.removeStray()).toBe(4);
    expect(await names()).toEqual(['a', 'of-setup', 'of-setup.sock', 'old', 'renamed.sock', 'somebody.sock', 'sub']);
    expect(await workspace.removeUnrecorded()).toBe(2);
    expect(await names()).toEqual(['a', 'old', 'renamed.sock', 'somebody.sock', 'sub']);
  });

  it('keeps repositories of setup while the run goes on, and takes them away where it is put back', async () => {
    const dir = await createRepository({ a: 'a', 'sub/b': 'b' });
    const { workspace } = await open(dir);
    git(dir, 'init', '-q', 'sub/made');
    await write(dir, { 'sub/made/x': 'x' });
    await workspace.ignoredPaths();
    git(dir, 'init', '-q', 'planted');
    await write(dir, { a: 'changed', 'planted/x': 'x' });
    await workspace.restore(workspace.base.tree);
    expect(Object.keys(await photograph(dir))).toEqual(['a', 'sub', 'sub/b', 'sub/made', 'sub/made/x']);
    expect(await workspace.removeUnrecorded()).toBe(1);
    expect(Object.keys(await photograph(dir))).toEqual(['a', 'sub', 'sub/b']);
  });

  it('looks at a big tree once for its snapshot and for what that leaves out', async () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`many/${at}`, '']));
    const dir = await createRepository({ ...many, '.gitignore': 'out/\n' });
    const bin = await createFolder();
    const log = join(bin, 'log');
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    await write(bin, { git: { run: `#!/bin/sh\necho "$@" >> ${log}\nexec ${real} "$@"\n` } });
    const { workspace } = await open(dir, { path: bin });
    await write(dir, { 'out/x': 'x' });
    await write(bin, { log: '' });
    await workspace.snapshot(null, { ignored: true });
    expect(await workspace.unrecorded()).toEqual(['out']);
    expect((await readFile(log, 'utf8')).match(/ ?status /g)).toHaveLength(1);
  });
});
