import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPatchBench, locateRepository, readCommitted } from '../../src/workspace/index.ts';
import { commit, createFolder, createRepository, git, gitBytes, photograph, stateOf, write } from './repository.ts';

const path = process.env['PATH'] ?? '';

async function committedAt(dir: string, ref: string | null, name = 'belay.yml') {
  return readCommitted({ location: await locateRepository({ dir, path }), ref, name });
}

describe('a committed file', () => {
  it('is read from HEAD or the ref, never from the checkout', async () => {
    const dir = await createRepository({ 'belay.yml': 'old\n', 'sub/x': 'x' });
    const old = git(dir, 'rev-parse', 'HEAD');
    await write(dir, { 'belay.yml': 'new\n' });
    const head = commit(dir);
    await write(dir, { 'belay.yml': 'uncommitted\n', 'sub/belay.yml': 'uncommitted\n' });
    const found = (at: string, text: string, shown: string) => ({
      kind: 'found',
      commit: at,
      bytes: Buffer.from(text),
      file: join(dir, 'belay.yml'),
      shown: `${shown}:belay.yml`,
    });
    expect(await committedAt(dir, null)).toEqual(found(head, 'new\n', 'HEAD'));
    expect(await committedAt(dir, 'HEAD~1')).toEqual(found(old, 'old\n', 'HEAD~1'));
    expect(await committedAt(join(dir, 'sub'), null)).toEqual(found(head, 'new\n', 'HEAD'));
    expect(await committedAt(join(dir, 'sub'), null, 'no')).toEqual({
      kind: 'missing',
      commit: head,
      folders: [join(dir, 'sub'), dir],
    });
    commit(dir);
    expect(await committedAt(join(dir, 'sub'), null)).toMatchObject({
      shown: 'HEAD:sub/belay.yml',
    });
  });

  it('is not there without a repository or a commit, and a ref then is an error', async () => {
    const dir = await createFolder();
    expect(await committedAt(dir, null)).toEqual({ kind: 'no_commit' });
    await expect(committedAt(dir, 'main')).rejects.toMatchObject({ name: 'UsageError' });
    git(dir, 'init', '-q');
    expect(await committedAt(dir, null)).toEqual({ kind: 'no_commit' });
  });

  it.each(['no-such', '--help', '', ' ', 'HEAD:belay.yml'])('refuses the ref %j', async (ref) => {
    const dir = await createRepository({ 'belay.yml': 'x' });
    await expect(committedAt(dir, ref)).rejects.toMatchObject({ code: 'trust_ref' });
  });
});

describe('a patch bench', () => {
  const createPatch = async () => {
    const dir = await createRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'run.sh': { run: 'x' } });
    const base = git(dir, 'rev-parse', 'HEAD');
    await write(dir, { 'a.txt': 'changed\n', 'c.txt': 'c\n' });
    await rm(join(dir, 'b.txt'));
    git(dir, 'add', '-A');
    const patch = gitBytes(dir, ['diff', '--cached', '--binary']);
    return { dir, base, patch, patchSha256: createHash('sha256').update(patch).digest('hex') };
  };

  it('is a fresh tree of the base that takes the patch and goes without a trace', async () => {
    const { dir, base, patch, patchSha256 } = await createPatch();
    const before = await stateOf(dir);
    const expected = { patchSha256, baseCommit: base, tree: null };
    const bench = await createPatchBench({ dir, path, base: base.slice(0, 10), patch, expected });
    expect(await photograph(bench.dir)).toEqual({ 'a.txt': '644 a\n', 'b.txt': '644 b\n', 'run.sh': '755 x' });
    await bench.apply();
    expect(await photograph(bench.dir)).toEqual(await photograph(dir));
    await expect(bench.apply()).rejects.toMatchObject({ code: 'patch' });
    await bench.remove();
    expect(existsSync(bench.dir)).toBe(false);
    expect(await stateOf(dir)).toEqual(before);
  });

  it('refuses an unknown base and a patch that the result is not about', async () => {
    const { dir, base, patch, patchSha256 } = await createPatch();
    const create = (change: Partial<Parameters<typeof createPatchBench>[0]>) =>
      createPatchBench({ dir, path, base, patch, expected: null, ...change });
    await expect(create({ base: 'f'.repeat(40) })).rejects.toMatchObject({ code: 'trust_ref' });
    await expect(
      create({ patch: Buffer.from('x'), expected: { patchSha256, baseCommit: base, tree: null } }),
    ).rejects.toMatchObject({ code: 'expect' });
    await expect(create({ expected: { patchSha256, baseCommit: null, tree: null } })).rejects.toMatchObject({
      code: 'expect',
    });
    await expect(create({ expected: { patchSha256: null, baseCommit: base, tree: null } })).rejects.toMatchObject({
      code: 'expect',
    });
  });

  it('does not write outside of its folder, whatever the patch says', async () => {
    const { dir, base } = await createPatch();
    for (const name of ['../out.txt', '.git/config']) {
      const patch = Buffer.from(`--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`);
      const bench = await createPatchBench({ dir, path, base, patch, expected: null });
      await expect(bench.apply()).rejects.toMatchObject({ code: 'patch' });
      expect(existsSync(join(bench.dir, '../out.txt'))).toBe(false);
      await bench.remove();
    }
  });
});
