import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareDependencies } from '../../src/workspace/dependencies/compare-dependencies.ts';
import { dependencyChanges, isManifestOrLock } from '../../src/workspace/index.ts';
import { createRepository, open, write } from './repository.ts';

const npmLock = (version: string, integrity: string): string =>
  JSON.stringify({ packages: { '': { name: 'x' }, 'node_modules/a': { version, integrity } } });
const table = (name: string, version: string, checksum: string): string =>
  `[[package]]\nname = "${name}"\nversion = "${version}"\nchecksum = "${checksum}"\n`;

const pom = (inside: string): string => `<?xml version="1.0"?>\n<project>\n${inside}\n</project>\n`;
/** As bun 1.2 writes it, commas included. */
const bunLock = (version: string, digest: string): string => `{
  "lockfileVersion": 1,
  "workspaces": { "": { "name": "x", "dependencies": { "@s/a": "^1.0.0", }, }, },
  "packages": {
    "@s/a": ["@s/a@${version}", "", { "bin": "a.js", "note": "a,] \\" ,}" }, "${digest}"],
  }
}
`;

type Case = [path: string, before: string | null, after: string | null, expected: readonly string[]];

const CASES: readonly Case[] = [
  ['package.json', '{"dependencies":{"a":"1"}}', '{"dependencies":{"a":"2","b":"1"}}', ['a 1→2', 'b null→1']],
  ['package.json', '{"version":"1","scripts":{}}', '{"version":"2","scripts":{"x":"y"}}', []],
  ['package.json', '{"devDependencies":{"a":"1"}}', '{"devDependencies":{}}', ['a 1→null']],
  ['package.json', '{}', '{"overrides":{"a":{"b":"1"}}}', ['a null→{"b":"1"}']],
  ['package.json', '{}', '{ broken', ['(file changed) null→null']],
  ['package.json', null, '{"dependencies":{"__proto__x":"1"}}', ['__proto__x null→1']],
  ['sub/package-lock.json', npmLock('1', 'x'), npmLock('2', 'x'), ['a 1→2']],
  ['package-lock.json', npmLock('1', 'x'), npmLock('1', 'y'), ['a 1→1 (from another source)']],
  ['package-lock.json', '{"lockfileVersion":2}', '{"lockfileVersion":3}', ['(file changed) null→null']],
  ['package-lock.json', npmLock('1', 'x'), null, ['a 1→null']],
  ['yarn.lock', 'a@^1:\n  version "1.0.0"\n', 'a@^1:\n  version "1.0.1"\n', ['a 1.0.0→1.0.1']],
  ['yarn.lock', '', '"@s/a@npm:^1":\n  version: 1.0.0\n', ['@s/a null→1.0.0']],
  ['pnpm-lock.yaml', 'packages:\n  a@1.0.0:\n    x: y\n', 'packages:\n  a@2.0.0:\n    x: y\n', ['a 1.0.0→2.0.0']],
  [
    'pyproject.toml',
    '[project]\ndependencies = ["a>=1"]\n',
    '[project]\ndependencies = [\n  "a>=2",\n  "b[x]",\n]\n',
    ['a >=1→>=2', 'b null→any'],
  ],
  ['pyproject.toml', '[tool.x]\na = 1\n', '[tool.x]\na = 2\n', []],
  ['pyproject.toml', '', '[tool.poetry.dependencies]\na = {version = "^1"}\n', ['a null→^1']],
  ['poetry.lock', table('a', '1', ''), table('a', '2', ''), ['a 1→2']],
  [
    'Cargo.toml',
    '[dependencies]\na = "1"\n',
    '[dependencies]\na = { version = "2" }\n[dev-dependencies.b]\npath = "../b"\n',
    ['a 1→2', 'b null→{ path = "../b" }'],
  ],
  ['Cargo.lock', table('a', '1', 'x'), table('a', '1', 'y'), ['a 1→1 (from another source)']],
  [
    'go.mod',
    'require a/b v1\n',
    'require (\n\ta/b v2 // indirect\n)\nreplace c => ../c\n',
    ['a/b v1→v2', 'c null→replace => ../c'],
  ],
  ['go.sum', 'a v1 h1:x\n', 'a v1 h1:y\n', ['a v1→v1 (from another source)']],
  [
    'requirements.txt',
    'a==1 # why\n',
    '--index-url=http://other\na==2\n',
    ['--index-url null→--index-url=http://other', 'a ==1→==2'],
  ],
  ['requirements-dev.txt', 'A_b==1\n', 'a-b==1\n', []],
  ['Gemfile', 'gem "a", "~> 1"\n', 'gem "a", "~> 2"\n', ['a "~> 1"→"~> 2"']],
  ['Gemfile.lock', 'GEM\n  specs:\n    a (1.0)\n', 'GEM\n  specs:\n    a (1.1)\n      b (>= 1)\n', ['a 1.0→1.1']],
  ['composer.json', '{"require":{"a/b":"1"}}', '{"require":{"a/b":"2"}}', ['a/b 1→2']],
  [
    'composer.lock',
    '{"packages":[{"name":"a","version":"1"}]}',
    '{"packages":[{"name":"a","version":"2"}]}',
    ['a 1→2'],
  ],
  ['pom.xml', '<a/>', '<b/>', []],
  [
    'pom.xml',
    pom('<dependency>\n<groupId>g</groupId>\n<artifactId>a</artifactId><version>1</version></dependency>'),
    pom('<dependency ><artifactId>a</artifactId><groupId>g</groupId><version>2</version></dependency>'),
    ['g:a 1→2'],
  ],
  [
    'pom.xml',
    pom('<properties><v.x>1</v.x></properties><!-- <dependency><version>0</version></dependency> -->'),
    pom('<properties><v.x>2</v.x></properties><repository><url>https://other.example</url></repository>'),
    ['property v.x 1→2', 'repository null→https://other.example'],
  ],
  ['pom.xml', pom(''), `<!DOCTYPE p [<!ENTITY d "x">]>${pom('&d;')}`, ['(file changed) null→null']],
  [
    'gradle.lockfile',
    '# This is a file\ng:a:1=compileClasspath\nempty=\n',
    '# This is a file\ng:a:2=compileClasspath\nempty=\n',
    ['g:a 1→2'],
  ],
  [
    'gradle/libs.versions.toml',
    '[versions]\nk = "1"\n[libraries]\na = { module = "g:a", version.ref = "k" }\n',
    '[versions]\nk = "2"\n[libraries]\na = { module = "g:a", version.ref = "k" }\n[plugins]\np = "i:1"\n',
    ['plugins.p null→i:1', 'versions.k 1→2'],
  ],
  [
    'build.gradle.kts',
    'dependencies { }\n',
    'dependencies { implementation("g:a:1") }\n',
    ['(file changed) null→null'],
  ],
  [
    'gradle/wrapper/gradle-wrapper.properties',
    'distributionUrl=a\n',
    'distributionUrl=b\n',
    ['(file changed) null→null'],
  ],
  ['.mvn/extensions.xml', '<a/>', '<b/>', ['(file changed) null→null']],
  ['bun.lock', bunLock('1.0.0', 'sha512-x'), bunLock('1.1.0', 'sha512-x'), ['@s/a 1.0.0→1.1.0']],
  ['bun.lock', bunLock('1.0.0', 'sha512-x'), bunLock('1.0.0', 'sha512-y'), ['@s/a 1.0.0→1.0.0 (from another source)']],
  ['uv.lock', table('a', '1', ''), table('a', '2', ''), ['a 1→2']],
  [
    'pyproject.toml',
    '',
    '[tool.uv.sources]\na = { git = "https://x" }\n',
    ['tool.uv.sources.a null→{ git = "https://x" }'],
  ],
  ['package.json', '{"pnpm":{}}', '{"pnpm":{"overrides":{"a":"2"}}}', ['pnpm.overrides null→{"a":"2"}']],
  ['package.json', '{}', '{"packageManager":"pnpm@10.0.0"}', ['packageManager null→pnpm@10.0.0']],
  ['setup.py', 'setup()\n', 'setup(install_requires=["a"])\n', ['(file changed) null→null']],
  ['src/index.ts', 'a', 'b', []],
];

describe('dependency changes', () => {
  it.each(CASES)('in %s: %j → %j', (path, before, after, expected) => {
    expect(compareDependencies(path, before, after).map(({ name, from, to }) => `${name} ${from}→${to}`)).toEqual(
      expected,
    );
  });

  it('of a file that cannot be read are one change', () => {
    expect(compareDependencies('package.json', undefined, '{}')).toEqual([
      { path: 'package.json', name: '(file changed)', from: null, to: null },
    ]);
  });

  it.each([
    ['package.json', true],
    ['a/b/Cargo.lock', true],
    ['x.csproj', true],
    ['requirements/base.txt', true],
    ['package.json.md', false],
    ['requirements.md', false],
    ['src/package.ts', false],
  ])('%s names dependencies: %s', (path, expected) => {
    expect(isManifestOrLock(path)).toBe(expected);
  });

  it('are read from two snapshots, a link and a deleted file too', async () => {
    const dir = await createRepository({
      'package.json': '{"dependencies":{"a":"1"}}',
      'sub/go.sum': 'a v1 h1:x\n',
      'yarn.lock': 'a@^1:\n  version "1.0.0"\n',
    });
    const { workspace } = await open(dir);
    await write(dir, { 'package.json': '{"dependencies":{"a":"2"}}', 'yarn.lock': { link: 'elsewhere' }, 'x.ts': 'x' });
    await rm(join(dir, 'sub/go.sum'));
    const [from, to] = [workspace.base.tree, await workspace.snapshot()];
    const files = await workspace.changedPaths(from, to);
    expect(await dependencyChanges(workspace, { from, to, files })).toEqual([
      { path: 'package.json', name: 'a', from: '1', to: '2' },
      { path: 'sub/go.sum', name: 'a', from: 'v1', to: null },
      { path: 'yarn.lock', name: '(file changed)', from: null, to: null },
    ]);
  });
});
