import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

let bench: Bench;
afterEach(() => bench.remove());

const CHECK = { verify: { checks: [{ name: 'c', run: 'grep -q good a.txt' }], flaky_retries: 0 } };

function layOut(policy: object, files: Record<string, string> = {}): void {
  bench = createBench({
    'a.txt': 'bad\n',
    ...files,
    'belay.yml': JSON.stringify({ version: 1, limits: { attempts: 1 }, ...policy }),
  });
}
async function run(command: string) {
  const call = { name: 'shell', input: { command: `echo good > a.txt; ${command}` } };
  const finish = { name: 'finish', input: { status: 'done', summary: 'done' } };
  const replay = writeCassette(bench, [{ tool_calls: [call] }, { tool_calls: [finish] }]);
  const end = await runCli(['run', 'go', '--replay', replay], bench);
  return { code: end.code, reason: end.result?.reason };
}

describe('what no patch would show is not delivered as verified', () => {
  it.each([
    [
      'a protected file that a rule ignores, and repositories in folders old and new',
      'echo .husky/ > .gitignore; mkdir .husky; echo x > .husky/pre-commit; git init -q src; git init -q lib; echo x > lib/x',
      '.husky was added, outside of what git records, but is protected (.husky/**) (and 2 more)',
    ],
    [
      'a folder of files that git refuses to hold',
      'mkdir lib lib/.GIT; echo x > lib/.GIT/config',
      `the agent's change cannot be recorded: git refuses the file name "lib/.GIT/config": rename it, or keep it in a folder that .gitignore names`,
    ],
    [
      'a repository that git cannot read',
      'mkdir -p lib/.git/objects lib/.git/refs; echo ref: refs/heads/main > lib/.git/HEAD; : > lib/.git/commondir; echo x > lib/x',
      expect.stringMatching(
        /^the agent's change cannot be recorded: "lib\/\.git" was added, and git status failed \(128\): /,
      ),
    ],
    [
      'a link where git reads settings',
      'ln -s a.txt src/.gitmodules',
      `the agent's change cannot be recorded: git refuses the file name "src/.gitmodules": rename it, or keep it in a folder that .gitignore names`,
    ],
  ])('%s', async (_, command, reason) => {
    layOut(CHECK, { 'src/x.txt': 'x\n' });
    commitAll(bench);
    const before = treeOf(bench.ws);
    expect(await run(command)).toEqual({ code: 12, reason });
    expect(treeOf(bench.ws)).toEqual(before);
    expect(existsSync(join(bench.ws, 'src/.git'))).toBe(false);
  });

  it('a repository around a folder that is none', async () => {
    layOut(CHECK);
    rmSync(join(bench.ws, '.git'), { recursive: true });
    const reason = '.git was added, outside of what git records, but is protected (.git)';
    expect(await run('git init -q .')).toEqual({ code: 12, reason });
    expect(existsSync(join(bench.ws, '.git'))).toBe(false);
  });

  it('a file that the user’s index passes over, there or not', async () => {
    layOut({ workspace: { write: ['a.txt'] }, ...CHECK }, { 'there.txt': 'x\n', 'gone.txt': 'x\n' });
    commitAll(bench);
    bench.git('update-index', '--skip-worktree', 'there.txt', 'gone.txt');
    rmSync(join(bench.ws, 'gone.txt'));
    const reason = 'gone.txt was changed, but is outside of workspace.write (and 1 more)';
    expect(await run('echo y > there.txt; echo y > gone.txt')).toEqual({ code: 12, reason });
    expect(bench.read('there.txt')).toBe('x\n');
  });

  it('and a repository that was there in a folder of the tree stays, however young it looks', async () => {
    layOut(
      { setup: [{ run: 'cp -a src/.git src/.new; rm -rf src/.git; mv src/.new src/.git' }], ...CHECK },
      { 'src/x.txt': 'x\n' },
    );
    commitAll(bench);
    execFileSync('git', ['init', '-q', join(bench.ws, 'src')]);
    expect((await run('echo bad > a.txt')).code).toBe(10);
    expect(existsSync(join(bench.ws, 'src/.git/HEAD'))).toBe(true);
  });

  it('but repositories that were there, that setup made, or that a check leaves are nobody’s trespass', async () => {
    layOut(
      {
        setup: [{ run: 'git init -q made' }],
        verify: { checks: [{ name: 'c', run: 'git init -q left; git init -q src; grep -q good a.txt' }] },
      },
      { 'src/x.txt': 'x\n' },
    );
    commitAll(bench);
    mkdirSync(join(bench.ws, 'old'));
    execFileSync('git', ['init', '-q', join(bench.ws, 'old')]);
    expect((await run('true')).code).toBe(0);
    // The check left something else, so that files were put back.
    expect(['old', 'made', 'left', 'src'].filter((name) => existsSync(join(bench.ws, name, '.git')))).toEqual([
      'old',
      'made',
    ]);
  });
});
