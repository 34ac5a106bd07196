import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';

const POLICY =
  'version: 1\ntools: {edit: replace_text}\nlimits: {attempts: 1}\nworkspace: {write: [add.sh]}\nverify:\n  checks:\n    - {name: tests, run: sh test.sh}\n';
const FILES = { 'add.sh': 'echo $(( $1 - $2 ))\n', 'test.sh': 'test "$(sh add.sh 2 3)" = 5\n', 'belay.yml': POLICY };
const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
let bench: Bench;
let base: string;

beforeEach(() => {
  bench = createBench(FILES);
  base = commitAll(bench);
});
afterEach(() => bench.remove());

async function runWith(newText: string, extra = '') {
  const cassette = join(bench.io, 'model.jsonl');
  const edit = answer('replace_text', { path: 'add.sh', old_text: '$1 - $2', new_text: newText });
  writeFileSync(cassette, edit + extra + answer('finish', { status: 'done', summary: 'done' }));
  const files = { patch: join(bench.io, 'p.patch'), result: join(bench.io, 'r.json') };
  await runCli(['run', 'fix', '--replay', cassette, '--patch', files.patch, '--result', files.result], bench);
  return files;
}

describe('belay verify', () => {
  it('judges the workspace as it is and leaves it so', async () => {
    const before = treeOf(bench.ws);
    const red = await runCli(['verify'], bench);
    expect({ code: red.code, outcome: red.result?.outcome }).toEqual({ code: 10, outcome: 'unverified' });
    bench.write('add.sh', 'echo $(( $1 + $2 ))\n');
    const green = await runCli(['verify'], bench);
    expect({ code: green.code, outcome: green.result?.outcome, model: green.result?.model }).toEqual({
      code: 0,
      outcome: 'verified',
      model: null,
    });
    expect(treeOf(bench.ws)).toEqual({ ...before, 'add.sh': 'echo $(( $1 + $2 ))\n' });
  });

  it('proves a patch in a fresh tree of its base, without touching the workspace', async () => {
    const { patch, result } = await runWith('$1 + $2');
    bench.git('checkout', '-q', '.');
    const before = treeOf(bench.ws);
    const end = await runCli(['verify', '--patch', patch, '--base', base, '--expect', result], bench);
    expect({
      code: end.code,
      outcome: end.result?.outcome,
      evidence: end.result?.evidence,
      stderr: end.code === 0 ? '' : end.stderr,
    }).toEqual({ code: 0, outcome: 'verified', evidence: 'fixed', stderr: '' });
    expect(end.result?.changes.patch_sha256).toBe(JSON.parse(readFileSync(result, 'utf8')).changes.patch_sha256);
    expect(treeOf(bench.ws)).toEqual(before);
    expect(bench.git('status', '--porcelain')).toBe('');
  });

  it('finds a patch that does not fix, that leaves its scope, that is another one, or that does not apply', async () => {
    const { patch, result } = await runWith('$1 * $2');
    const verify = async (...args: string[]) => (await runCli(['verify', '--base', base, ...args], bench)).code;
    expect(await verify('--patch', patch)).toBe(10);
    const outside = join(bench.io, 'outside.patch');
    writeFileSync(
      outside,
      'diff --git a/x.txt b/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/x.txt\n@@ -0,0 +1 @@\n+x\n',
    );
    expect(await verify('--patch', outside)).toBe(12);
    expect(await verify('--patch', outside, '--expect', result)).toBe(2);
    const odd = join(bench.io, 'odd.patch');
    writeFileSync(odd, readFileSync(patch, 'utf8').replace('$1 - $2', '$9 - $9'));
    expect(await verify('--patch', odd)).toBe(2);
    expect(await verify('--patch', join(bench.io, 'none.patch'))).toBe(2);
  });

  it('verifies no patch that changes what its tree does not show, or the policy in use', async () => {
    const good =
      'diff --git a/add.sh b/add.sh\n--- a/add.sh\n+++ b/add.sh\n@@ -1 +1 @@\n-echo $(( $1 - $2 ))\n+echo $(( $1 + $2 ))\n';
    const added = (path: string, line: string, mode = '100644') =>
      `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
    const patches = {
      'the patch changes the submodule "lib"': added('lib', `Subproject commit ${base}`, '160000'),
      '".github/.gitignore", which git ignores': added('.github/.gitignore', '*') + added('.github/ci.yml', 'on: push'),
      'belay.yml was changed, but is protected':
        'diff --git a/belay.yml b/belay.yml\nold mode 100644\nnew mode 100755\n',
    };
    const policy = join(bench.ws, 'belay.yml');
    writeFileSync(policy, POLICY.replace('write: [add.sh]', 'write: ["**"]'));
    bench.git('commit', '-q', '-a', '-m', 'open');
    const file = join(bench.io, 'hostile.patch');
    for (const [reason, patch] of Object.entries(patches)) {
      writeFileSync(file, good + patch);
      const end = await runCli(['verify', '--patch', file, '--base', base], bench);
      expect({ code: end.code, reason: end.result?.reason }).toEqual({
        code: 12,
        reason: expect.stringContaining(reason),
      });
    }
    // A file where a folder was, before one that setup changed as well.
    const ofSetup = 'diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n';
    const gone = 'diff --git a/d/x b/d/x\ndeleted file mode 100644\n--- a/d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n';
    bench.write('z', 'one\n');
    bench.write('d/x', 'x\n');
    writeFileSync(policy, `${readFileSync(policy, 'utf8')}setup: [{run: echo two >> z}]\n`);
    const last = commitAll(bench);
    writeFileSync(file, good + added('src/.gitignore', 'x') + gone + added('d', 'file') + ofSetup);
    const end = await runCli(['verify', '--patch', file, '--base', last], bench);
    expect({ code: end.code, reason: end.result?.reason }).toEqual({
      code: 0,
      reason: 'the required check passed on the final tree in the clean room',
    });
  });
});
