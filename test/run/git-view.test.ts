import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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
const git = (dir: string, ...args: string[]) => execFileSync('git', args, { cwd: dir, encoding: 'utf8' }).trim();

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

  it('shows what git keeps to no reading tool', async () => {
    bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    const call = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
    writeFileSync(
      cassette,
      call('read_file', { path: '.git/config' }) +
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
