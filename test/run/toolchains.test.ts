import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

const PNPM = join(import.meta.dirname, '../../node_modules/.bin/pnpm');
const has = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

let bench: Bench;
afterEach(() => bench.remove());

/** `belay verify` with the real HOME's toolchains made readable: baseline and clean room both run the check. */
async function verify(files: Readonly<Record<string, string>>, prepare: (dir: string) => void = () => undefined) {
  bench = createBench(files);
  prepare(bench.ws);
  commitAll(bench);
  const end = await runCli(['verify'], bench, { env: { HOME: homedir() } });
  const checks = end.result?.checks.map(({ name, final, output_tail }) => ({ name, final, output_tail }));
  return { code: end.code, checks, reason: end.code === 0 ? '' : end.result?.reason };
}

const policy = (run: string, more = '') =>
  `version: 1\n${more}verify:\n  checks:\n    - {name: tests, run: ${JSON.stringify(run)}, timeout: 5m}\n`;
const passed = (tail: RegExp) => ({
  code: 0,
  checks: [{ name: 'tests', final: 'passed', output_tail: expect.stringMatching(tail) }],
  reason: '',
});

describe('the work of people gets done in the fence:', () => {
  it.skipIf(!has('cargo', '--version'))('cargo test, with the toolchain of a home folder', async () => {
    const homes = ['~/.cargo', '~/.rustup'].filter((path) => existsSync(path.replace('~', homedir())));
    const files = {
      'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': 'pub fn two() -> u8 { 2 }\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n',
      '.gitignore': 'target/\n',
      'belay.yml': policy('cargo test --offline', `sandbox: {readable: ${JSON.stringify(homes)}}\n`),
    };
    expect(await verify(files)).toEqual(passed(/1 passed/));
  });

  it.skipIf(!has('python3', '-c', 'import venv, ensurepip'))('unittest and pip in a virtual environment', async () => {
    const files = {
      'test_a.py':
        'import unittest, sys\nclass A(unittest.TestCase):\n    def test_a(self): self.assertIn("venv", sys.prefix)\n',
      '.gitignore': 'venv/\n',
      'belay.yml': policy('venv/bin/python -m unittest -v && venv/bin/python -m pip --version'),
    };
    const python = '/usr/bin/python3';
    const made = await verify(
      files,
      (dir) => void execFileSync(existsSync(python) ? python : 'python3', ['-m', 'venv', join(dir, 'venv')]),
    );
    expect(made).toEqual(passed(/pip/));
  });

  it.skipIf(!has('python3', '-c', 'import pytest'))('pytest', async () => {
    const home = execFileSync('python3', ['-c', 'import sys; print(sys.prefix)'], { encoding: 'utf8' }).trim();
    const more = home.startsWith('/usr') ? '' : `sandbox: {readable: [${JSON.stringify(home)}]}\n`;
    const files = {
      'test_a.py': 'def test_a(tmp_path):\n    (tmp_path / "x").write_text("x")\n',
      'belay.yml': policy(`${home}/bin/python3 -m pytest -q`, more),
    };
    expect(await verify(files)).toEqual(passed(/1 passed/));
  });

  it.skipIf(!existsSync(PNPM))('a workspace of pnpm, whose packages are links to each other', async () => {
    const files = {
      'package.json': '{"name": "root", "private": true, "packageManager": "pnpm@10.0.0"}\n',
      'pnpm-workspace.yaml': 'packages: ["packages/*"]\n',
      '.npmrc': 'manage-package-manager-versions=false\n',
      'packages/a/package.json': '{"name": "a", "version": "1.0.0", "main": "index.js"}\n',
      'packages/a/index.js': 'module.exports = 2;\n',
      'packages/b/package.json':
        '{"name": "b", "version": "1.0.0", "dependencies": {"a": "workspace:*"}, "scripts": {"test": "node test.js"}}\n',
      'packages/b/test.js': 'require("assert").equal(require("a"), 2); console.log("two is two");\n',
      '.gitignore': 'node_modules/\ntools/\n',
      'belay.yml': policy('node tools/pnpm/bin/pnpm.cjs -r --offline test'),
    };
    const made = await verify(files, (dir) => {
      execFileSync(PNPM, ['install', '--offline', '--ignore-scripts'], { cwd: dir, stdio: 'ignore' });
      execFileSync('mkdir', [join(dir, 'tools')]);
      execFileSync('cp', ['-r', join(PNPM, '../../pnpm'), join(dir, 'tools/pnpm')]);
    });
    expect(made).toEqual(passed(/two is two/));
  });

  it('a server on the loopback of the check, polled until it answers', async () => {
    const files = {
      'server.js': 'require("http").createServer((q, r) => r.end("up")).listen(3000, "127.0.0.1");\n',
      'belay.yml': policy(
        'node server.js & until node -e "fetch(\'http://localhost:3000\').then((r) => r.text()).then(console.log, () => process.exit(1))"; do :; done',
      ),
    };
    expect(await verify(files)).toEqual(passed(/up/));
  });
});
