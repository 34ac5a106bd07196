import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareDependencies } from '../../src/workspace/dependencies/compare-dependencies.ts';
import { dependencyChanges } from '../../src/workspace/index.ts';
import { createRepository, open } from './repository.ts';

type Versions = Readonly<Record<string, string>>;
type Write = (versions: Versions) => string;

const each = (versions: Versions, write: (name: string, version: string) => string, join = ''): string =>
  Object.entries(versions)
    .map(([name, version]) => write(name, version))
    .join(join);
/** By hand: an own key `__proto__` stays one. */
const object = (versions: Versions, write: (name: string, version: string) => string): string =>
  `{${each(versions, (name, version) => `${JSON.stringify(name)}: ${write(name, version)}`, ',')}}`;
const tables: Write = (versions) =>
  `version = 1\n\n${each(versions, (name, version) => `[[package]]\nname = "${name}"\nversion = "${version}"\n\n`)}`;
const pom = (inside: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<project xmlns="http://maven.example/POM/4.0.0" xmlns:xsi="http://w3.example/2001/XMLSchema-instance" xsi:schemaLocation="x y">\n${inside}</project>\n`;

/** A manifest and a lock file of each ecosystem with these dependencies, as its tool writes them. */
const FORMATS: readonly (readonly [ecosystem: string, path: string, write: Write])[] = [
  ['npm', 'package.json', (v) => `{"name":"x","dependencies":${object(v, (_, version) => `"${version}"`)}}\n`],
  [
    'npm',
    'package-lock.json',
    (v) => `{"packages":{${each(v, (n, version) => `"node_modules/${n}":{"version":"${version}"}`, ',')}}}\n`,
  ],
  [
    'pnpm',
    'pnpm-lock.yaml',
    (v) =>
      `lockfileVersion: '9.0'\n\npackages:\n\n${each(v, (n, version) => `  ${n}@${version}:\n    resolution: {integrity: x}\n\n`)}`,
  ],
  ['yarn', 'yarn.lock', (v) => `# yarn\n\n${each(v, (n, version) => `${n}@^1:\n  version "${version}"\n\n`)}`],
  [
    'bun',
    'bun.lock',
    (v) =>
      `{\n  "packages": {\n${each(v, (n, version) => `    "${n}": ["${n}@${version}", "", {}, "sha512-x"],\n`)}  },\n}\n`,
  ],
  ['pip', 'requirements.txt', (v) => `# pinned\n${each(v, (n, version) => `${n}==${version}\n`)}`],
  ['pip', 'pylock.toml', (v) => tables(v).replaceAll('[[package]]', '[[packages]]')],
  [
    'poetry',
    'pyproject.toml',
    (v) =>
      `[tool.poetry]\nname = "x"\n\n[tool.poetry.group.dev.dependencies]\n${each(v, (n, version) => `${n} = "${version}"\n`)}`,
  ],
  ['poetry', 'poetry.lock', tables],
  [
    'uv',
    'uv/pyproject.toml',
    (v) => `[project]\nname = "x"\ndependencies = [\n${each(v, (n, version) => `  "${n}==${version}",\n`)}]\n`,
  ],
  ['uv', 'uv.lock', tables],
  [
    'cargo',
    'Cargo.toml',
    (v) => `[package]\nname = "x"\n\n[dependencies]\n${each(v, (n, version) => `${n} = "${version}"\n`)}`,
  ],
  ['cargo', 'Cargo.lock', tables],
  ['go', 'go.mod', (v) => `module x\n\nrequire (\n${each(v, (n, version) => `\t${n} ${version}\n`)})\n`],
  ['go', 'go.sum', (v) => each(v, (n, version) => `${n} ${version} h1:x\n${n} ${version}/go.mod h1:y\n`)],
  [
    'bundler',
    'Gemfile',
    (v) => `source "https://gems.example"\n${each(v, (n, version) => `gem "${n}", "${version}"\n`)}`,
  ],
  [
    'bundler',
    'Gemfile.lock',
    (v) => `GEM\n  remote: https://gems.example/\n  specs:\n${each(v, (n, version) => `    ${n} (${version})\n`)}`,
  ],
  ['composer', 'composer.json', (v) => `{"require":${object(v, (_, version) => `"${version}"`)}}\n`],
  [
    'composer',
    'composer.lock',
    (v) => `{"packages":[${each(v, (n, version) => `{"name":"${n}","version":"${version}"}`, ',')}]}\n`,
  ],
  [
    'maven',
    'pom.xml',
    (v) =>
      pom(
        `<dependencies>\n${each(v, (n, version) => `<dependency><groupId></groupId><artifactId>${n}</artifactId><version>${version}</version></dependency>\n`)}</dependencies>\n`,
      ),
  ],
  ['gradle', 'gradle/libs.versions.toml', (v) => `[versions]\n${each(v, (n, version) => `${n} = "${version}"\n`)}`],
  ['gradle', 'gradle.lockfile', (v) => `${each(v, (n, version) => `:${n}:${version}=x\n`.replace(':', 'g:'))}empty=\n`],
];
const BEFORE = { a: '1.0.0', b: '1.0.0' };
const AFTER = { a: '2.0.0', c: '1.0.0' };

/** Names without a section or group, versions without an operator. */
const told = (path: string, before: string | null, after: string | null): string[] =>
  compareDependencies(path, before, after)
    .map(({ name, from, to }) => `${name.replace(/^(versions\.|g:|:)/, '')} ${from} ${to}`.replace(/==|"/g, ''))
    .sort();
/** Repeated a million times and more, these are too much for a pattern that looks on from each, and for a parser that calls itself. */
const SLOW: readonly (readonly [lead: string, unit: string])[] = [
  ['', '{"a":'],
  ['{"dependencies":', '['],
  ['<p>', '<dependency>'],
  ['<p>', '<dependency '],
  ['<p>', '<!--'],
  ['{"packages":{"', '\\"'],
  ['x = ', "'"],
  ['gem "a", ', '#'],
  ['require ', '//'],
  ['a==1', ' '],
  ['packages:\n  a@', 'b'],
  ['', '[a.'],
  ['', '\n'],
];
const WHOLE = '(file changed) null null';

describe.each(FORMATS)('a change of dependencies of %s in %s', (_, path, write) => {
  const before = write(BEFORE);
  const after = write(AFTER);
  const changes = ['a 1.0.0 2.0.0', 'b 1.0.0 null', 'c null 1.0.0'];

  it('is told: what was added, what was removed, and another version', () => {
    expect(told(path, before, after)).toEqual(changes);
    expect(told(path, before, before)).toEqual([]);
    expect(told(path, null, before)).toEqual(expect.arrayContaining(['a null 1.0.0', 'b null 1.0.0']));
    expect(told(path, before, null)).toEqual(expect.arrayContaining(['a 1.0.0 null', 'b 1.0.0 null']));
  });

  it('is told where lines end otherwise, behind a byte order mark, and in a folder', () => {
    expect(told(path, before, after.replaceAll('\n', '\r\n'))).toEqual(changes);
    expect([[WHOLE], changes]).toContainEqual(told(path, before, `\uFEFF${after}`));
    expect(told(join('deep/er', path), before, after)).toEqual(changes);
  });

  it('is told by name where the names are those of every object', () => {
    // Python knows no such name as the first one.
    const names = before.includes('==') ? ['constructor'] : ['__proto__', 'constructor', 'toString'];
    const hostile = Object.fromEntries([...Object.entries(BEFORE), ...names.map((name) => [name, '1.0.0'] as const)]);
    expect(told(path, before, write(hostile))).toEqual(names.map((name) => `${name} null 1.0.0`));
  });

  it.each([
    ['a merge that was not finished', `<<<<<<< ours\n${before}=======\n${after}>>>>>>> theirs\n`],
    ['half a file', after.slice(0, after.length / 2)],
    ['nothing', ''],
    ['another format', 'x: [\n<y>"'],
  ])('is told of %s', (__, text) => {
    expect(told(path, before, text)).not.toEqual([]);
  });
});

/** Read by a parser that another one of the table has, too. */
const ALIKE = ['pylock.toml', 'poetry.lock', 'uv.lock', 'uv/pyproject.toml', 'composer.json'];

describe('text that is made to be slow to match, or deep', () => {
  const apart = FORMATS.map(([, path, write]) => ({ path, before: write(BEFORE) })).filter(
    ({ path }) => !ALIKE.includes(path),
  );
  it.each(apart)('is answered as $path', ({ path, before }) => {
    for (const [lead, unit] of SLOW) {
      const text = unit.repeat(1_000_000 / unit.length);
      expect(compareDependencies(path, before, `${lead}${text}\u2028`)).toBeInstanceOf(Array);
    }
  });
});

/** What a tool reads as a dependency, and a reader of the usual lines alone does not. */
const DISGUISES: readonly (readonly [path: string, before: string, after: string])[] = [
  ['Cargo.toml', '[package]\n', 'dependencies.evil = "1"\n[package]\n'],
  ['Cargo.toml', '[package]\n', 'dependencies = { evil = "1" }\n[package]\n'],
  ['Cargo.toml', '[package]\n', '[package]\n["dependencies"]\nevil = "1"\n'],
  ['Cargo.toml', '[package]\n', '[package]\nkeywords = ["\\""] #"\n[dependencies]\nevil = "1"\n'],
  ['Cargo.toml', '[package]\n', '[package]\n[target.\'cfg(a = "]")\'.dependencies]\nevil = "1"\n'],
  ['pyproject.toml', '', 'project = {dependencies = ["evil"]}\n'],
  ['pyproject.toml', '', '[project]\ndependencies = ["""\\\n  evil"""]\n'],
  ['pyproject.toml', '', '[tool.hatch.envs.default]\nextra-dependencies = ["evil"]\n'],
  ['pyproject.toml', '', '[[tool.uv.index]]\nurl = "https://evil.example"\n'],
  ['gradle/libs.versions.toml', '', 'libraries.x = "g:evil:1"\n'],
  ['requirements.txt', 'a==1\n', 'a==1\n# x\x0bevil==1\n'],
  ['requirements.txt', 'a==1\n', 'a==1\n# x\u2028evil==1\n'],
  ['requirements.txt', 'a==1\n', '# coding: utf-7\na==1\n# +AAo-evil\n'],
  ['Gemfile', '', 'gem("evil")\n'],
  ['Gemfile', '', 'group(:a) { gem "evil" }\n'],
  ['Gemfile', 'gem "a", ""\n', 'gem "a", "" "\\"#{eval_gemfile "evil"}"\n'],
  ['go.mod', 'module x\n', 'module x\ntoolchain evil\n'],
  ['package.json', '{"dependencies":{}}', '{"dependencies":{},"dependencies":{"evil":"1"}}'],
  ['package.json', '{}', '{"workspaces":{"catalog":{"evil":"1"}}}'],
  ['composer.json', '{}', '{"repositories":[{"type":"composer","url":"https://evil.example"}]}'],
  [
    'pom.xml',
    pom(
      '<plugin><configuration><configuration></configuration><version>0</version></configuration><version>1</version></plugin>',
    ),
    pom(
      '<plugin><configuration><configuration></configuration><version>0</version></configuration><version>2</version></plugin>',
    ),
  ],
  [
    'pom.xml',
    pom(''),
    pom('<é:dependency xmlns:é="http://maven.example/POM/4.0.0"><é:artifactId>evil</é:artifactId></é:dependency>'),
  ],
  ['pom.xml', pom('<properties><v a="1">1</v></properties>'), pom('<properties><v a="1">2</v></properties>')],
  [
    'pom.xml',
    pom(''),
    pom(
      '<plugin><annotationProcessorPaths><path><artifactId>evil</artifactId></path></annotationProcessorPaths></plugin>',
    ),
  ],
  ['pom.xml', pom(''), pom('').replace('UTF-8', 'UTF-7')],
];

describe('a dependency in disguise', () => {
  it.each(DISGUISES)('is told in %s: %j → %j', (path, before, after) => {
    expect(compareDependencies(path, before, after)).not.toEqual([]);
  });
});

describe('the dependency files of a change', () => {
  const files = Object.fromEntries(FORMATS.map(([, path, write]) => [path, write(BEFORE)]));
  const paths = Object.keys(files).sort();

  /** The paths that a change of the work tree is told for, and the names that are told of the first one. */
  async function change(from: Readonly<Record<string, string>>, work: (dir: string) => Promise<void>) {
    const dir = await createRepository(from);
    const { workspace } = await open(dir);
    await work(dir);
    const [before, after] = [workspace.base.tree, await workspace.snapshot()];
    const changes = await dependencyChanges(workspace, {
      from: before,
      to: after,
      files: await workspace.changedPaths(before, after),
    });
    return { changes, paths: [...new Set(changes.map(({ path }) => path))].sort() };
  }
  async function place(dir: string, path: string, file: string | Buffer): Promise<void> {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), file);
  }
  async function link(dir: string, path: string, target: string): Promise<void> {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await rm(join(dir, path), { force: true });
    await symlink(target, join(dir, path));
  }

  it('are told on both sides when they are moved or renamed', async () => {
    const ended = await change(files, async (dir) => {
      for (const path of paths) {
        await mkdir(dirname(join(dir, 'moved', path)), { recursive: true });
        await rename(join(dir, path), join(dir, 'moved', path));
      }
    });
    expect(ended.paths).toEqual([...paths, ...paths.map((path) => `moved/${path}`)].sort());
  });

  it('are told when a link takes their place: by what it leads to in the tree, else as a whole', async () => {
    const ended = await change(files, async (dir) => {
      for (const [, path, write] of FORMATS) {
        await place(dir, `other/${path}.kept`, write(AFTER));
        await link(dir, path, path.includes('/') ? `../other/${path}.kept` : `other/${path}.kept`);
      }
    });
    expect(ended.paths).toEqual(paths);
    expect(ended.changes).toContainEqual({ path: 'go.mod', name: 'c', from: null, to: '1.0.0' });
    const few = ['Cargo.toml', 'go.mod', 'package.json', 'pom.xml', 'requirements.txt'];
    const outside = await change(files, async (dir) => {
      for (const path of few) await link(dir, path, `/outside/${path}`);
    });
    expect(outside.changes).toEqual(few.map((path) => ({ path, name: '(file changed)', from: null, to: null })));
  });

  it('are told when they are new and a link, too large, or not in UTF-8', async () => {
    const ended = await change({ 'pom.xml': pom(''), 'requirements.txt': '' }, async (dir) => {
      for (const path of ['Cargo.toml', 'sub/go.mod', 'sub/Gemfile']) await link(dir, path, '/outside/file');
      await place(dir, 'pom.xml', Buffer.from(`\uFEFF${files['pom.xml']}`, 'utf16le'));
      await place(dir, 'requirements.txt', Buffer.concat([Buffer.from('# x'), Buffer.from([0xff, 0x0a])]));
      await place(dir, 'sub/package.json', `{"dependencies":{"a":"1"}}${' '.repeat(17 * 1024 * 1024)}`);
      const many = each(
        Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`a${at}`, '1'])),
        (n) => `${n} v1 h1:x\n`,
      );
      await place(dir, 'sub/go.sum', many);
    });
    expect(ended.paths).toEqual([
      'Cargo.toml',
      'pom.xml',
      'requirements.txt',
      'sub/Gemfile',
      'sub/go.mod',
      'sub/go.sum',
    ]);
    expect(ended.changes.at(-1)).toEqual({ path: 'sub/go.sum', name: '(more changes)', from: null, to: null });
  });
});
