import { execFileSync, spawn } from 'node:child_process';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { holdsSame } from '../../src/workspace/index.ts';
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

const PIPES = ['.gitignore', 'sub/.gitattributes', 'one/.git/HEAD', 'two/.git/refs/heads/main'];

/** Looks for pipes while it has no file left to open, then with one. */
const STARVE = `
import { closeSync, openSync } from 'node:fs';
import { feedPipes } from ${JSON.stringify(join(import.meta.dirname, '../../src/workspace/feed-pipes.ts'))};
const [dir] = process.argv.slice(2);
const files = [];
const fill = () => {
  try {
    for (;;) files.push(openSync('/dev/null'));
  } catch (error) {
    if (error.code !== 'EMFILE') throw error;
  }
};
let walks = 0;
const stop = feedPipes({
  get root() {
    walks += 1;
    if (walks === 1) fill();
    if (walks === 3) for (const file of files.splice(0)) closeSync(file);
    return dir;
  },
  patience: { afterMs: 1, anyAfterMs: 60_000 },
  onFed: () => {
    stop();
    console.log('fed');
  },
});
`;

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

  it('pipes where git reads its rules, or a repository of the tree, keep nothing from its end', async () => {
    const dir = await createRepository({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
    const { workspace } = await open(dir);
    for (const nested of ['one/.git', 'two/.git'])
      await write(dir, { [`${nested}/objects`]: null, [`${nested}/refs/heads`]: null });
    await write(dir, { 'one/f': 'f', 'two/f': 'f', 'two/.git/HEAD': 'ref: refs/heads/main\n' });
    const odd = Buffer.concat([Buffer.from(`${dir}/bad`), Buffer.from([0xff])]);
    await mkdir(odd);
    // No argument can hold that name.
    execFileSync('sh', ['-c', `mkfifo .gitignore && mv .gitignore bad*/ && mkfifo "$@"`, 'sh', ...PIPES], { cwd: dir });
    await writeFile(join(dir, 'sub/b.txt'), 'touched\n');
    const tree = await workspace.snapshot();
    const changed = await workspace.changedPaths(workspace.base.tree, tree);
    expect(changed).toContainEqual({ path: 'sub/b.txt', kind: 'update' });
    // With the folder that nothing else is in.
    expect(await workspace.removeStray()).toBe(4);
    // What git cannot do without, it has not: that is an error that names it, and an end.
    execFileSync('mkfifo', [join(dir, 'two/.git/commondir')]);
    await expect(workspace.snapshot()).rejects.toMatchObject({ code: 'repository' });
  });

  it('a file that becomes a pipe or a link while it is compared holds nobody up', async () => {
    const dir = await createFolder();
    await write(dir, { file: 'x', same: 'x', link: { link: 'file' } });
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    const compared = ['same', 'link', 'pipe'].map((name) => holdsSame(join(dir, 'file'), join(dir, name)));
    expect(await Promise.all(compared)).toEqual([true, false, false]);
  });

  it('a look at pipes survives a machine that has no file left to open', async () => {
    const dir = await createFolder();
    execFileSync('mkfifo', [join(dir, '.gitignore')]);
    const script = join(dir, 'starve.ts');
    await write(dir, { 'starve.ts': STARVE });
    const cat = spawn('cat', [join(dir, '.gitignore')], { stdio: 'ignore' });
    onTestFinished(() => void cat.kill());
    const run = [
      '-c',
      'ulimit -n 64; exec "$@"',
      'sh',
      process.execPath,
      '--import',
      import.meta.resolve('tsx'),
      script,
    ];
    const said = execFileSync('sh', [...run, dir], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      // One that is never fed must fail, not hang.
      timeout: 60_000,
    });
    expect(said).toBe('fed\n');
  });

  it('a git that hangs is ended when the run is to end, and what comes after it works', async () => {
    const dir = await createRepository({ 'a.txt': 'a\n' });
    const bin = await createFolder();
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    await write(bin, {
      git: {
        run: `#!/bin/sh\ntest ! -e ${bin}/hang || { mv ${bin}/hang ${bin}/hangs; exec sleep 300; }\nexec ${real} "$@"\n`,
      },
    });
    const stop = new AbortController();
    const { workspace } = await open(dir, { path: bin, stop: stop.signal });
    await write(dir, { 'a.txt': 'changed\n' });
    await write(bin, { hang: '' });
    const snapshot = workspace.snapshot();
    const failed = expect(snapshot).rejects.toMatchObject({ code: 'git_failed' });
    await vi.waitFor(() => stat(join(bin, 'hangs')));
    stop.abort();
    await failed;
    await workspace.restore(workspace.base.tree);
    expect(await readFile(join(dir, 'a.txt'), 'utf8')).toBe('a\n');
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
