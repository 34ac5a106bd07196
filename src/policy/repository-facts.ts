import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hasCode } from '../errors.ts';
import { type PythonFacts, readPythonFacts } from './python-facts.ts';

/** What a repository shows of how it is built and tested. Names from fixed lists only: no text of the repository itself. */
export interface RepositoryFacts {
  node: { scripts: readonly NodeScript[]; manager: NodeManager; hasLock: boolean } | null;
  python: PythonFacts | null;
  go: boolean;
  rust: { hasLock: boolean } | null;
  ruby: { runner: 'rspec' | 'rake' | null } | null;
  php: { runner: 'composer' | 'phpunit' | null } | null;
  java: { tool: 'maven' | 'gradle'; hasWrapper: boolean } | null;
  /** A target of the makefile that runs the tests. */
  makeTarget: 'test' | 'check' | null;
  /** Files and folders of CI systems, relative to the repository's root. */
  ci: readonly string[];
}

export type NodeManager = 'npm' | 'pnpm' | 'yarn' | 'bun';
const NODE_SCRIPTS = ['test', 'lint', 'typecheck', 'type-check'] as const;
export type NodeScript = (typeof NODE_SCRIPTS)[number];

const NODE_LOCKS: readonly (readonly [string, NodeManager])[] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

const CI_FILES = [
  '.github',
  '.gitlab-ci.yml',
  '.circleci',
  'Jenkinsfile',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  '.travis.yml',
  '.buildkite',
  '.drone.yml',
  '.woodpecker',
  '.woodpecker.yml',
  '.cirrus.yml',
  'appveyor.yml',
];

/** A manifest beyond this is not a manifest. */
const MAX_FILE_BYTES = 1024 * 1024;

/** A look at the root of a repository: its names and a few files, each read up to 1 MiB. A folder that is not there shows nothing. */
export async function readRepositoryFacts(dir: string): Promise<RepositoryFacts> {
  const names = await readNames(dir);
  const read = async (name: string) => (names.has(name) || name.includes('/') ? await readText(join(dir, name)) : null);
  return {
    node: await readNodeFacts(names, read),
    python: await readPythonFacts({ names, read, list: (folder) => readNames(join(dir, folder)) }),
    go: names.has('go.mod'),
    rust: names.has('Cargo.toml') ? { hasLock: names.has('Cargo.lock') } : null,
    ruby: names.has('Gemfile') ? { runner: rubyRunner(names) } : null,
    php: names.has('composer.json') ? { runner: await readPhpRunner(names, read) } : null,
    java: javaFacts(names),
    makeTarget: await readMakeTarget(read),
    ci: CI_FILES.filter((name) => names.has(name)),
  };
}

type Names = ReadonlySet<string>;
type Read = (name: string) => Promise<string | null>;

async function readNames(dir: string): Promise<Names> {
  try {
    return new Set(await readdir(dir));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return new Set();
    throw error;
  }
}

/** null for what is not a readable regular file; opened without waiting, since it may be a pipe. */
async function readText(path: string): Promise<string | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return null;
      const buffer = Buffer.alloc(MAX_FILE_BYTES);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR', 'ELOOP', 'ENXIO', 'ENODEV')) return null;
    throw error;
  }
}

const manifest = z.object({ scripts: z.record(z.string(), z.unknown()).optional().catch(undefined) });

/** Scripts of a manifest, in the shape that package.json and composer.json share; none where it cannot be read. */
function scriptsOf(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null) return {};
  try {
    return manifest.safeParse(JSON.parse(text)).data?.scripts ?? {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

async function readNodeFacts(names: Names, read: Read): Promise<RepositoryFacts['node']> {
  const text = await read('package.json');
  if (text === null) return null;
  const scripts = scriptsOf(text);
  const lock = NODE_LOCKS.find(([name]) => names.has(name));
  return {
    // the test script that `npm init` writes only fails
    scripts: NODE_SCRIPTS.filter((name) => {
      const script = Object.hasOwn(scripts, name) ? scripts[name] : null;
      return typeof script === 'string' && script.trim() !== '' && !script.includes('no test specified');
    }),
    manager: lock?.[1] ?? 'npm',
    hasLock: lock !== undefined,
  };
}

function rubyRunner(names: Names): 'rspec' | 'rake' | null {
  if (names.has('spec') || names.has('.rspec')) return 'rspec';
  return names.has('Rakefile') ? 'rake' : null;
}

async function readPhpRunner(names: Names, read: Read): Promise<'composer' | 'phpunit' | null> {
  if (Object.hasOwn(scriptsOf(await read('composer.json')), 'test')) return 'composer';
  const configs = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'];
  return configs.some((name) => names.has(name)) ? 'phpunit' : null;
}

function javaFacts(names: Names): RepositoryFacts['java'] {
  if (names.has('pom.xml')) return { tool: 'maven', hasWrapper: names.has('mvnw') };
  const gradle = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];
  return gradle.some((name) => names.has(name)) ? { tool: 'gradle', hasWrapper: names.has('gradlew') } : null;
}

async function readMakeTarget(read: Read): Promise<'test' | 'check' | null> {
  // in the order in which make looks for them
  const text = (await read('GNUmakefile')) ?? (await read('makefile')) ?? (await read('Makefile'));
  if (text === null) return null;
  if (/^test[ \t]*::?(?!=)/m.test(text)) return 'test';
  return /^check[ \t]*::?(?!=)/m.test(text) ? 'check' : null;
}
