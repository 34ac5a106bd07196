import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';

const PNPM = join(import.meta.dirname, '../../node_modules/.bin/pnpm');
const has = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** Copies where the two are on different file systems. */
function linkOrCopy(from: string, to: string): void {
  if (has('cp', '-al', from, to)) return;
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', from, to]);
}

/** Hard links to the toolchains of cargo: a home that another user may read, where the real one is not. */
function linkCargo(home: string): void {
  const rustup = join(homedir(), '.rustup');
  const parts = readdirSync(join(rustup, 'toolchains')).flatMap((name) =>
    ['bin', 'lib', 'libexec'].map((part) => join('toolchains', name, part)),
  );
  for (const part of ['settings.toml', ...parts].filter((name) => existsSync(join(rustup, name)))) {
    mkdirSync(join(home, '.rustup', part, '..'), { recursive: true });
    linkOrCopy(join(rustup, part), join(home, '.rustup', part));
  }
  // rustup wants to make them where they are missing.
  for (const name of ['downloads', 'tmp', 'update-hashes']) mkdirSync(join(home, '.rustup', name));
  if (existsSync(join(homedir(), '.cargo'))) linkOrCopy(join(homedir(), '.cargo'), join(home, '.cargo'));
}

const policy = (run: string, more = '') =>
  `version: 1\n${more}verify:\n  checks:\n    - {name: tests, run: ${JSON.stringify(run)}, timeout: 5m}\n`;
const passed = (tail: RegExp) => ({
  code: 0,
  checks: [{ name: 'tests', final: 'passed', output_tail: expect.stringMatching(tail) }],
  reason: '',
});

const HAS_VENV = has('python3', '-c', 'import venv, ensurepip');
const SYSTEM_PYTHON = '/usr/bin/python3';

function makeVenv(folder: string, ...options: string[]): void {
  execFileSync(existsSync(SYSTEM_PYTHON) ? SYSTEM_PYTHON : 'python3', ['-m', 'venv', ...options, folder]);
}

const HAS_PYTEST = has('python3', '-c', 'import pytest');
/** Copies pytest and what it needs, as they are installed, to the folder that is named. */
const COPY_PYTEST = `
import importlib.metadata as known, os, shutil, sys
for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
    try: files = known.files(name)
    except known.PackageNotFoundError: continue
    for file in (file for file in files if ".." not in file.parts):
        to = os.path.join(sys.argv[1], file)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.exists(file.locate()): shutil.copy(file.locate(), to)
`;

let scratch = '';
let venv = '';
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'belay-home-'));
  chmodSync(scratch, 0o755);
  venv = join(scratch, 'venv');
  if (HAS_VENV) makeVenv(venv);
});
afterAll(() => rmSync(scratch, { recursive: true }));

describe.each(USERS)('the work of people gets done in the fence, with belay run by $who:', ({ uid, works }) => {
  let bench: Bench;
  let home = homedir();
  beforeAll(() => {
    if (uid === undefined || !works) return;
    home = join(scratch, 'home');
    mkdirSync(home);
    if (existsSync(join(homedir(), '.rustup', 'toolchains'))) linkCargo(home);
  });
  afterEach(() => bench.remove());

  /** `belay verify` with the home's toolchains made readable: baseline and clean room both run the check. */
  async function verify(files: Readonly<Record<string, string>>, prepare: (dir: string) => void = () => undefined) {
    bench = createBench(files, uid);
    prepare(bench.ws);
    commitAll(bench);
    const end = await runCli(['verify'], bench, {
      env: { HOME: home, PATH: `${home}/.cargo/bin:${process.env['PATH']}` },
    });
    const checks = end.result?.checks.map(({ name, final, output_tail }) => ({ name, final, output_tail }));
    return { code: end.code, checks, reason: end.code === 0 ? '' : end.result?.reason };
  }

  it.skipIf(!works || !has('cargo', '--version'))('cargo test, with the toolchain of a home folder', async () => {
    const homes = ['~/.cargo', '~/.rustup'].filter((path) => existsSync(path.replace('~', home)));
    const files = {
      'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': 'pub fn two() -> u8 { 2 }\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n',
      '.gitignore': 'target/\n',
      'belay.yml': policy('cargo test --offline', `sandbox: {readable: ${JSON.stringify(homes)}}\n`),
    };
    expect(await verify(files)).toEqual(passed(/1 passed/));
  });

  it.skipIf(!works || !HAS_VENV)('unittest and pip in a virtual environment', async () => {
    const files = {
      'test_a.py':
        'import unittest, sys\nclass A(unittest.TestCase):\n    def test_a(self): self.assertIn("venv", sys.prefix)\n',
      '.gitignore': 'venv/\n',
      'belay.yml': policy('venv/bin/python -m unittest -v && venv/bin/python -m pip --version'),
    };
    const made = await verify(files, (dir) => void execFileSync('cp', ['-a', venv, join(dir, 'venv')]));
    expect(made).toEqual(passed(/pip/));
  });

  it.skipIf(!works || !HAS_PYTEST)('pytest in a virtual environment', async () => {
    const files = {
      'test_a.py':
        'import sys\ndef test_a(tmp_path):\n    (tmp_path / "x").write_text("x")\n    assert "venv" in sys.prefix\n',
      '.gitignore': 'venv/\n',
      'belay.yml': policy('venv/bin/python -m pytest -q'),
    };
    const made = await verify(files, (dir) => {
      makeVenv(join(dir, 'venv'), '--without-pip');
      const [lib = ''] = readdirSync(join(dir, 'venv/lib'));
      execFileSync('python3', ['-c', COPY_PYTEST, join(dir, 'venv/lib', lib, 'site-packages')]);
    });
    expect(made).toEqual(passed(/1 passed/));
  });

  it.skipIf(!works || !existsSync(PNPM))('a workspace of pnpm, whose packages are links to each other', async () => {
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

  it.skipIf(!works)('a server on the loopback of the check, polled until it answers', async () => {
    const files = {
      'server.js': 'require("http").createServer((q, r) => r.end("up")).listen(3000, "127.0.0.1");\n',
      'belay.yml': policy(
        'node server.js & until node -e "fetch(\'http://localhost:3000\').then((r) => r.text()).then(console.log, () => process.exit(1))"; do :; done',
      ),
    };
    expect(await verify(files)).toEqual(passed(/up/));
  });
});
