import { join } from 'node:path';
import { type NodeFacts, readNodeFacts } from './node-facts.ts';
import { findOtherTools, type OtherTool } from './other-tools.ts';
import { type PhpFacts, readPhpFacts } from './php-facts.ts';
import { entriesOf, isForeign, openProject, type ProjectFiles } from './project-files.ts';
import { type PythonFacts, readPythonFacts } from './python-facts.ts';
import { type RubyFacts, readRubyFacts } from './ruby-facts.ts';

/** What a folder shows of how it is built and tested. Names from fixed lists only: no text of the repository itself. */
export interface ProjectFacts {
  node: NodeFacts | null;
  python: PythonFacts | null;
  go: { hasTests: boolean; isWorkspace: boolean } | null;
  rust: { hasLock: boolean; isWorkspace: boolean } | null;
  ruby: RubyFacts | null;
  php: PhpFacts | null;
  java: { tool: 'maven' | 'gradle'; hasWrapper: boolean } | null;
  others: readonly OtherTool[];
  /** A target of the makefile that runs the tests. */
  makeTarget: 'test' | 'check' | null;
}

/** A project below the root. */
export interface PartFacts {
  /** Relative, of letters, digits and `._-`: safe in a policy and in a shell. */
  folder: string;
  facts: ProjectFacts;
}

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

/** A look at one folder: its names and a few files. One that is not there shows nothing. */
export async function readProjectFacts(dir: string): Promise<ProjectFacts> {
  const files = await openProject(dir);
  const { names } = files;
  return {
    node: await readNodeFacts(files),
    python: await readPythonFacts(files),
    go: names.has('go.mod') || names.has('go.work') ? await readGoFacts(files) : null,
    rust: await readRustFacts(files),
    ruby: await readRubyFacts(files),
    php: await readPhpFacts(files),
    java: javaFacts(names),
    others: await findOtherTools(files),
    makeTarget: await readMakeTarget(files),
  };
}

/** Files and folders of CI systems in a repository's root. */
export async function findCiFiles(dir: string): Promise<readonly string[]> {
  const { names } = await openProject(dir);
  return CI_FILES.filter((name) => names.has(name));
}

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$/;
/** Folders that hold projects, and are none. */
const CONTAINERS: ReadonlySet<string> = new Set(['apps', 'packages', 'services', 'libs', 'projects', 'modules', 'src']);
/** What lies there is looked at by others. */
const SIDE: ReadonlySet<string> = new Set(['test', 'tests', 'spec', 'docs', 'examples', 'fixtures', 'testdata']);
const MAX_PARTS = 12;

/** Projects of a repository whose root is none: `frontend` and `backend`, or those in `apps`. */
export async function readParts(dir: string): Promise<readonly PartFacts[]> {
  const above = await foldersIn(dir);
  const nested = await Promise.all(
    above
      .filter((name) => CONTAINERS.has(name))
      .map(async (name) => (await foldersIn(join(dir, name))).map((inner) => `${name}/${inner}`)),
  );
  const folders = [...above.filter((name) => !CONTAINERS.has(name)), ...nested.flat()].slice(0, MAX_PARTS);
  return Promise.all(folders.map(async (folder) => ({ folder, facts: await readProjectFacts(join(dir, folder)) })));
}

async function foldersIn(dir: string): Promise<readonly string[]> {
  return (await entriesOf(dir))
    .filter((entry) => entry.isDirectory() && SAFE_NAME.test(entry.name) && !isForeign(entry.name))
    .map(({ name }) => name)
    .filter((name) => !SIDE.has(name))
    .sort();
}

async function readGoFacts({ names, holds }: ProjectFiles): Promise<ProjectFacts['go']> {
  return { hasTests: await holds(/_test\.go$/), isWorkspace: names.has('go.work') };
}

async function readRustFacts({ names, read }: ProjectFiles): Promise<ProjectFacts['rust']> {
  const manifest = await read('Cargo.toml');
  return manifest === null
    ? null
    : { hasLock: names.has('Cargo.lock'), isWorkspace: /^\s*\[workspace\b/m.test(manifest) };
}

function javaFacts(names: ProjectFiles['names']): ProjectFacts['java'] {
  if (names.has('pom.xml')) return { tool: 'maven', hasWrapper: names.has('mvnw') };
  const gradle = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];
  return gradle.some((name) => names.has(name)) ? { tool: 'gradle', hasWrapper: names.has('gradlew') } : null;
}

async function readMakeTarget({ read }: ProjectFiles): Promise<ProjectFacts['makeTarget']> {
  // in the order in which make looks for them
  const text = (await read('GNUmakefile')) ?? (await read('makefile')) ?? (await read('Makefile'));
  if (text === null) return null;
  if (/^test[ \t]*::?(?!=)/m.test(text)) return 'test';
  return /^check[ \t]*::?(?!=)/m.test(text) ? 'check' : null;
}
