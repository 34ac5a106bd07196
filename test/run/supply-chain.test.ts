import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, type CliEnd, commitAll, createBench, runCli } from '../scenario.ts';

/** A file of each ecosystem, and how an agent changes what it depends on: [path, before, after]. */
const FILES: readonly (readonly [string, string, string])[] = [
  ['package.json', '{"name":"x","dependencies":{}}', '{"name":"x","dependencies":{"a":"1"}}'],
  ['package-lock.json', '{"packages":{}}', '{"packages":{"node_modules/a":{"version":"1.0.0"}}}'],
  ['pnpm/pnpm-lock.yaml', 'packages:\n', 'packages:\n  a@1.0.0:\n    resolution: {integrity: x}\n'],
  ['yarn/yarn.lock', '# yarn\n', '# yarn\na@^1:\n  version "1.0.0"\n'],
  ['bun/bun.lock', '{"packages":{},}', '{"packages":{"a":["a@1.0.0","",{},"sha512-x"],},}'],
  ['requirements.txt', 'b==1\n', 'b==1\na==1.0.0\n'],
  ['poetry/poetry.lock', '', '[[package]]\nname = "a"\nversion = "1.0.0"\n'],
  ['uv/uv.lock', 'version = 1\n', 'version = 1\n[[package]]\nname = "a"\nversion = "1.0.0"\n'],
  ['pyproject.toml', '[project]\nname = "x"\n', '[project]\nname = "x"\ndependencies = ["a>=1"]\n'],
  ['Cargo.toml', '[package]\nname = "x"\n', '[package]\nname = "x"\n[dependencies]\na = "1"\n'],
  ['Cargo.lock', 'version = 3\n', 'version = 3\n[[package]]\nname = "a"\nversion = "1.0.0"\n'],
  ['go.mod', 'module x\n', 'module x\nrequire a v1.0.0\n'],
  ['go.sum', '', 'a v1.0.0 h1:x\n'],
  ['Gemfile', 'source "https://rubygems.example"\n', 'source "https://rubygems.example"\ngem "a"\n'],
  ['Gemfile.lock', 'GEM\n  specs:\n', 'GEM\n  specs:\n    a (1.0.0)\n'],
  ['composer.json', '{}', '{"require":{"a/a":"1"}}'],
  ['composer.lock', '{"packages":[]}', '{"packages":[{"name":"a/a","version":"1.0.0"}]}'],
  [
    'pom.xml',
    '<project></project>',
    '<project><dependency><groupId>g</groupId><artifactId>a</artifactId></dependency></project>',
  ],
  ['gradle.lockfile', 'empty=\n', 'g:a:1.0.0=runtimeClasspath\nempty=\n'],
  ['build.gradle', 'plugins { }\n', 'plugins { }\ndependencies { implementation "g:a:1" }\n'],
];

/** New, and a link to what nobody here can look at. */
const LINKED = 'linked/go.mod';

let bench: Bench;
afterEach(() => bench.remove());

async function change(dependencies: string): Promise<CliEnd> {
  bench = createBench(Object.fromEntries(FILES.map(([path, before]) => [path, before])));
  const policy = { version: 1, workspace: { dependencies }, verify: { checks: [] } };
  bench.write('belay.yml', JSON.stringify(policy));
  commitAll(bench);
  const link = { name: 'shell', input: { command: `mkdir linked && ln -s /etc/hostname ${LINKED}` } };
  const calls = [...FILES.map(([path, , content]) => ({ name: 'write_file', input: { path, content } })), link];
  const finish = { name: 'finish', input: { status: 'done', summary: 'done' } };
  const lines = [{ tool_calls: calls }, { tool_calls: [finish] }].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(join(bench.io, 'model.jsonl'), lines.join(''));
  return runCli(['run', 'add a', '--replay', join(bench.io, 'model.jsonl')], bench);
}

const touched = ({ result }: CliEnd): string[] => [
  ...new Set((result?.changes.dependencies ?? []).map(({ path }) => path)),
];

describe('changes to what a project depends on, of every ecosystem,', () => {
  it('are told apart in the result, each by its file', async () => {
    const end = await change('report');
    expect({ code: end.code, touched: touched(end).sort() }).toEqual({
      code: 0,
      touched: [...FILES.map(([path]) => path), LINKED].sort(),
    });
    expect(end.result?.changes.dependencies).toContainEqual({
      path: 'yarn/yarn.lock',
      name: 'a',
      from: null,
      to: '1.0.0',
    });
  });

  it('break the policy where it denies them, and none is kept', async () => {
    const end = await change('deny');
    expect({ code: end.code, outcome: end.result?.outcome, reason: end.result?.reason }).toEqual({
      code: 12,
      outcome: 'policy_violation',
      reason: expect.stringMatching(/workspace\.dependencies/),
    });
    expect(FILES.filter(([path, before]) => bench.read(path) !== before)).toEqual([]);
    expect(existsSync(join(bench.ws, 'linked'))).toBe(false);
  });
});

/** What runs a program when a package manager, a build tool or a test runner only looks at the folder: each touches $BAIT. */
const baits = (bait: string): Record<string, string> => {
  const sh = `touch ${bait}`;
  const js = `require('node:child_process').execSync(${JSON.stringify(sh)});\n`;
  const py = `import os\nos.system(${JSON.stringify(sh)})\n`;
  const names = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish', 'pretest', 'version'];
  return {
    'package.json': JSON.stringify({
      name: 'x',
      version: '1.0.0',
      scripts: Object.fromEntries(names.map((name) => [name, sh])),
    }),
    '.npmrc': `script-shell=${bait}.sh\nnode-options=--require ./evil.cjs\n`,
    '.pnpmfile.cjs': js,
    'evil.cjs': js,
    '.yarnrc.yml': 'yarnPath: ./evil.cjs\n',
    'bunfig.toml': 'preload = ["./evil.cjs"]\n',
    'setup.py': `${py}from setuptools import setup\nsetup(name="x")\n`,
    'conftest.py': py,
    'sitecustomize.py': py,
    'pyproject.toml':
      '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n[project]\nname = "x"\n',
    'evil.py': py,
    'Cargo.toml': '[package]\nname = "x"\nversion = "0.1.0"\nbuild = "build.rs"\n',
    'build.rs': `fn main() { std::process::Command::new("touch").arg(${JSON.stringify(bait)}).status().unwrap(); }\n`,
    'src/lib.rs': '',
    'go.mod': 'module x\n',
    Gemfile: `system(${JSON.stringify(sh)})\n`,
    'x.gemspec': `system(${JSON.stringify(sh)})\n`,
    'composer.json': JSON.stringify({ scripts: { 'pre-autoload-dump': sh, 'post-install-cmd': sh } }),
    'pom.xml': '<project></project>',
    'build.gradle': `["touch", "${bait}"].execute()\n`,
    '.envrc': `${sh}\n`,
    '.nvmrc': `$(${sh})\n`,
    Makefile: `X := $(shell ${sh})\nall:\n`,
    'vitest.config.js': js,
    'jest.config.js': js,
    '.git-hooks/post-checkout': `#!/bin/sh\n${sh}\n`,
    'belay.yml': JSON.stringify({ version: 1, verify: { checks: [{ name: 'c', run: 'test -e package.json' }] } }),
  };
};

describe('what runs when a project is installed or built', () => {
  it('never runs in the context of belay, which reads, changes, judges and proves the project', async () => {
    bench = createBench();
    const bait = join(bench.io, 'bait');
    for (const [path, text] of Object.entries(baits(bait))) bench.write(path, text);
    commitAll(bench);

    // Whoever starts a package manager here starts the project's programs.
    rmSync(join(bench.ws, '.npmrc'));
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund'], {
      cwd: bench.ws,
      env: bench.env,
      stdio: 'ignore',
    });
    expect(existsSync(bait)).toBe(true);
    rmSync(bait);
    execFileSync('/usr/bin/env', ['python3', 'setup.py', '--name'], { cwd: bench.ws, stdio: 'ignore' });
    expect(existsSync(bait)).toBe(true);
    rmSync(bait);
    bench.git('checkout', '-q', '.');
    bench.git('clean', '-fdqx');

    const shell = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
    const patch = join(bench.io, 'change.patch');
    const lines = [
      shell('npm install --offline --no-audit --no-fund 2>&1 | tail -1; python3 setup.py --name; true'),
      shell("sed -i 's/1.0.0/1.0.1/' package.json; printf 'module x\\nrequire a v1\\n' > go.mod; echo >> Cargo.toml"),
      { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] },
    ].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(join(bench.io, 'model.jsonl'), lines.join(''));
    const run = await runCli(['run', 'go', '--replay', join(bench.io, 'model.jsonl'), '--patch', patch], bench);
    expect({ code: run.code, reason: run.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    expect(touched(run)).toContain('go.mod');
    bench.git('checkout', '-q', '.');
    const others = [
      ['verify'],
      ['verify', '--patch', patch, '--base', 'HEAD'],
      ['thread', 'rollback', run.result?.thread_id ?? '', '--to-turn', '1'],
      ['init', '--force'],
      ['policy', 'check'],
      ['doctor'],
    ];
    for (const args of others) await runCli(args, bench);
    expect(readdirSync(bench.io).sort()).toEqual(['change.patch', 'model.jsonl']);
  });
});
