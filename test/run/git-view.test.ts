import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

// Built from parts, so that no scanner takes it for one.
const TOKEN = ['mark', 'of', 'a', 'token'].join('-');
let bench: Bench;
afterEach(() => bench.remove());

/** Runs the commands as the agent, and gives what the model was shown of them. */
async function runAgent(cwd: string, commands: readonly string[]): Promise<{ code: number | null; shown: string[] }> {
  const cassette = join(bench.io, 'model.jsonl');
  const calls = commands.map((command) => ({ tool_calls: [{ name: 'shell', input: { command } }] }));
  const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
  writeFileSync(cassette, [...calls, finish].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const end = await runCli(['run', 'look', '--replay', cassette], bench, { cwd });
  const shown = end.events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'command_execution' && event.phase === 'agent'
      ? [event.item.aggregated_output]
      : [],
  );
  return { code: end.code, shown };
}

const POLICY = 'version: 1\nworkspace: {hide: [".env", "secret/**"]}\nverify: {checks: []}\n';
const git = (dir: string, ...args: string[]) =>
  execFileSync('git', [...identity, ...args], { cwd: dir, encoding: 'utf8' }).trim();

const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.invalid', '-c', 'commit.gpgSign=false'];
function commit(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  git(dir, 'add', '-A', '-f');
  git(dir, 'commit', '-q', '-m', 'x');
}
function remove(dir: string, path: string): void {
  git(dir, 'rm', '-r', '-q', path);
  git(dir, 'commit', '-q', '-m', 'x');
}

/** How often the token is in what git finds of objects, and in the files below `.git` that can be inflated, whatever git says. */
const INFLATE = `const zlib = require("node:zlib"), { readFileSync } = require("node:fs");
for (const file of process.argv.slice(1)) {
  let bytes;
  try { bytes = readFileSync(file); } catch { continue; }
  process.stdout.write(bytes);
  for (let at = bytes.indexOf(0x78); at >= 0; at = bytes.indexOf(0x78, at + 1))
    try { process.stdout.write(zlib.inflateSync(bytes.subarray(at))); } catch {}
}`;
const COUNT = `{ git cat-file --batch --batch-all-objects; find -L "$(git rev-parse --git-common-dir)" -type f -print0 | xargs -0 node -e '${INFLATE}'; } 2>/dev/null | grep -a -c ${TOKEN}`;
const countIn = (dir: string) => Number(execFileSync('bash', ['-c', `${COUNT}; true`], { cwd: dir, encoding: 'utf8' }));

describe("the agent's git", () => {
  it('has none of the credentials of the configuration, and works', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
    commitAll(bench);
    git(bench.ws, 'remote', 'add', 'origin', `https://user:${TOKEN}@example.org/a.git?key=${TOKEN}`);
    git(bench.ws, 'config', 'http.https://example.org/.extraheader', `AUTHORIZATION: basic ${TOKEN}`);
    git(bench.ws, 'config', 'credential.helper', `!echo ${TOKEN}`);
    writeFileSync(join(bench.ws, '.git', 'credentials'), `https://x:${TOKEN}@example.org\n`);
    const before = readFileSync(join(bench.ws, '.git', 'config'), 'utf8');
    const { code, shown } = await runAgent(bench.ws, [
      'cat .git/config .git/credentials; git config --list; grep -r mark-of .git | cut -c1-60; true',
      'git remote get-url origin && git log --format=%s && git status --short',
    ]);
    expect({ code, leaked: shown.filter((text) => text.includes(TOKEN)) }).toEqual({ code: 0, leaked: [] });
    expect(shown[0]).toContain('url = "https://example.org/a.git"');
    expect(shown[1]).toBe('https://example.org/a.git\nbase\n');
    expect(readFileSync(join(bench.ws, '.git', 'config'), 'utf8')).toBe(before);
  });

  it.each(['in the main work tree', 'in a linked one'])('has no object of a hidden path %s', async (where) => {
    bench = createBench({ 'a.txt': 'a\n', 'secret/key': `${TOKEN}\n`, 'b/c.txt': 'c\n', 'belay.yml': POLICY });
    commitAll(bench);
    writeFileSync(join(bench.ws, 'a.txt'), 'more\n');
    const oid = git(bench.ws, 'rev-parse', 'HEAD:secret/key');
    git(bench.ws, 'add', '.');
    git(bench.ws, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qm', 'second');
    const linked = join(bench.io, 'linked');
    if (where === 'in a linked one') git(bench.ws, 'worktree', 'add', '-q', linked);
    const { code, shown } = await runAgent(where === 'in a linked one' ? linked : bench.ws, [
      `git cat-file -p ${oid}; git show HEAD:secret/key; git show HEAD~1:secret/key; cat secret/key; git log -p --all -- secret; git grep mark HEAD; true`,
      'git show HEAD:b/c.txt && git log --format=%s && git status --short && git diff HEAD -- a.txt b',
    ]);
    expect({ code, leaked: shown.filter((text) => text.includes(TOKEN)) }).toEqual({ code: 0, leaked: [] });
    expect(shown[1]).toBe('c\nsecond\n');
  });

  /** The token is committed, or only stashed or staged elsewhere, and gone from HEAD and the index. */
  const PASTS: Readonly<Record<string, (ws: string) => void>> = {
    'that an earlier commit had': (ws) => {
      commit(ws, { '.env': `${TOKEN}\n` });
      remove(ws, '.env');
    },
    'that only a merge had': (ws) => {
      git(ws, 'checkout', '-q', '-b', 'side');
      commit(ws, { 'side.txt': 'side\n' });
      git(ws, 'checkout', '-q', 'main');
      commit(ws, { 'main.txt': 'main\n' });
      git(ws, 'merge', '-q', '--no-commit', '--no-ff', 'side');
      commit(ws, { 'secret/key': `${TOKEN}\n` });
      remove(ws, 'secret');
    },
    'of another branch, in a pack': (ws) => {
      git(ws, 'checkout', '-q', '-b', 'side');
      commit(ws, { 'deep/down/.env': `${TOKEN}\n` });
      git(ws, 'checkout', '-q', 'main');
      git(ws, 'gc', '-q');
    },
    'of a stash': (ws) => {
      writeFileSync(join(ws, '.env'), `${TOKEN}\n`);
      git(ws, 'add', '-f', '.env');
      git(ws, 'stash', 'push', '-q');
    },
    'of a commit that was amended': (ws) => {
      commit(ws, { '.env': `${TOKEN}\n` });
      git(ws, 'rm', '-q', '--cached', '.env');
      git(ws, 'commit', '-q', '--amend', '--allow-empty', '-m', 'amended');
      unlinkSync(join(ws, '.env'));
    },
    'that is staged in another work tree': (ws) => {
      const linked = join(ws, '../io/linked');
      git(ws, 'worktree', 'add', '-q', '--detach', linked);
      writeFileSync(join(linked, '.env'), `${TOKEN}\n`);
      git(linked, 'add', '-f', '.env');
    },
    'of a repository that objects are borrowed from': (ws) => {
      commit(ws, { '.env': `${TOKEN}\n` });
      const lender = join(ws, '../io/lender');
      execFileSync('cp', ['-r', ws, lender]);
      execFileSync('sh', ['-c', 'rm -rf .git ./.env && git init -q -b main'], { cwd: ws });
      writeFileSync(join(ws, '.git/objects/info/alternates'), `${lender}/.git/objects\n`);
      commit(ws, { 'new.txt': 'new\n' });
    },
  };

  it.each(Object.keys(PASTS))('has no object of a hidden path %s', async (past) => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
    commitAll(bench);
    PASTS[past]?.(bench.ws);
    expect(countIn(bench.ws)).toBeGreaterThan(0);
    const { code, shown } = await runAgent(bench.ws, [
      `${COUNT}; git log -p --all; git stash show -p; true`,
      'git show HEAD:a.txt && git log -1 --format=tformat:ok',
    ]);
    expect({ code, leaked: shown.filter((text) => text.includes(TOKEN)) }).toEqual({ code: 0, leaked: [] });
    expect([shown[0]?.split('\n')[0], shown[1]]).toEqual(['0', 'a\nok\n']);
  });

  it('keeps its history where no path of it was ever hidden', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
    commitAll(bench);
    commit(bench.ws, { 'environment.env.txt': 'no secret\n' });
    remove(bench.ws, 'environment.env.txt');
    const { code, shown } = await runAgent(bench.ws, ['git log --format=%s']);
    expect({ code, shown }).toEqual({ code: 0, shown: ['x\nx\nbase\n'] });
  });

  it('has no object of a hidden path of a submodule', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
    const library = join(bench.io, 'library');
    execFileSync('git', ['init', '-q', '-b', 'main', library]);
    commit(library, { '.env': `${TOKEN}\n`, 'b.txt': 'b\n' });
    remove(library, '.env');
    git(bench.ws, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'sub');
    commitAll(bench);
    expect(countIn(join(bench.ws, 'sub'))).toBeGreaterThan(0);
    const { code, shown } = await runAgent(bench.ws, [`${COUNT}; cd sub; ${COUNT}; cat b.txt`, 'git log --format=%s']);
    expect({ code, leaked: shown.filter((text) => text.includes(TOKEN)) }).toEqual({ code: 0, leaked: [] });
    expect(shown).toEqual(['0\n0\nb\n', 'base\n']);
  });

  it('has no object of a hidden path of a submodule whose folder a rule names, without a folder, or of another work tree', async () => {
    const policy = POLICY.replace('"secret/**"', '"vault/*.pem", "gone/f/*.pem", "linked/f/*.pem"');
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': policy });
    const library = join(bench.io, 'library');
    execFileSync('git', ['init', '-q', '-b', 'main', library]);
    commit(library, { 'a.pem': `${TOKEN}\n`, 'f/a.pem': `${TOKEN}\n` });
    remove(library, 'f');
    remove(library, 'a.pem');
    commit(library, { 'b.txt': 'b\n' });
    const module = (dir: string, ...args: string[]) =>
      git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', ...args);
    for (const name of ['vault', 'gone', 'linked']) module(bench.ws, 'add', library, name);
    commitAll(bench);
    git(bench.ws, 'worktree', 'add', '-q', '--detach', join(bench.io, 'other'));
    module(join(bench.io, 'other'), 'update', '--init', 'linked');
    git(join(bench.io, 'other', 'linked'), 'config', 'http.extraheader', TOKEN);
    module(bench.ws, 'deinit', '-f', 'gone');
    expect(countIn(bench.ws)).toBeGreaterThan(0);
    const { code, shown } = await runAgent(bench.ws, [`${COUNT}; cat vault/b.txt`, 'git log --format=%s']);
    expect({ code, shown }).toEqual({ code: 0, shown: ['0\nb\n', 'base\n'] });
  });

  it.skipIf(process.geteuid?.() !== 0)('works where root runs belay in the workspace of another user', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'secret/key': `${TOKEN}\n`, 'belay.yml': POLICY });
    commitAll(bench);
    execFileSync('chown', ['-R', '12345:12345', bench.ws]);
    const { code, shown } = await runAgent(bench.ws, [
      'git show HEAD:secret/key; git show HEAD:a.txt && git status -s',
    ]);
    expect({ code, end: shown[0]?.split('\n').slice(-2) }).toEqual({ code: 0, end: ['a', ''] });
    expect(shown[0]).not.toContain(TOKEN);
  });

  it.each(['workspace-write', 'read-only'])(
    'knows nothing of a repository inside the workspace, ignored or not (%s)',
    async (mode) => {
      bench = createBench({
        'a.txt': 'a\n',
        '.gitignore': 'deps/\n',
        'belay.yml': `${POLICY}sandbox: {mode: ${mode}}\n`,
      });
      commitAll(bench);
      for (const path of ['vendor', 'deps/inner']) {
        const dir = join(bench.ws, path);
        mkdirSync(dir, { recursive: true });
        git(dir, 'init', '-q');
        commit(dir, { '.env': TOKEN, 'lib.txt': 'lib\n' });
        remove(dir, '.env');
        git(dir, 'config', 'http.extraheader', TOKEN);
      }
      const look = (path: string) =>
        `cat ${path}/lib.txt; cd ${path}; git log -p --all 2>&1; find .git -type f 2>&1; cat .git/config 2>&1`;
      const { shown } = await runAgent(bench.ws, [look('vendor'), look('deps/inner')]);
      expect(shown.map((text) => [text.includes('lib\n'), text.includes(TOKEN)])).toEqual([
        [true, false],
        [true, false],
      ]);
    },
  );

  it('shows what git keeps to no reading tool', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
    commitAll(bench);
    git(bench.ws, 'init', '-q', 'inner');
    const cassette = join(bench.io, 'model.jsonl');
    const call = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
    writeFileSync(
      cassette,
      call('read_file', { path: '.git/config' }) +
        call('read_file', { path: 'inner/.git/config' }) +
        call('search', { pattern: 'repositoryformatversion', path: 'inner' }) +
        call('search', { pattern: 'repositoryformatversion', path: '.git' }) +
        call('list_files', { pattern: '.git/**' }) +
        call('finish', { status: 'done', summary: 'done' }),
    );
    const end = await runCli(['run', 'look', '--replay', cassette], bench, {});
    expect(end.code).toBe(0);
    expect(end.stdout).not.toContain('[core]');
    expect(end.stdout).not.toContain('repositoryformatversion =');
  });
});
