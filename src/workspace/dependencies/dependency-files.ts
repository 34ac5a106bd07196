import {
  parseBunLock,
  parseComposerJson,
  parseComposerLock,
  parsePackageJson,
  parsePackageLock,
} from './json-files.ts';
import { parseGradleLockfile, parsePom } from './jvm-files.ts';
import {
  parseGemfile,
  parseGemfileLock,
  parseGoMod,
  parseGoSum,
  parsePnpmLock,
  parseRequirements,
  parseYarnLock,
} from './line-files.ts';
import type { DependencyParser } from './pinned-version.ts';
import { parseCargoToml, parsePackageTables, parsePyproject, parseVersionCatalog } from './toml-files.ts';

export interface DependencyFile {
  /** null: no safe and simple way to read it; any change to it is one change. */
  parse: DependencyParser | null;
  /** In a lock file every change counts, also one that moves no version; a manifest has other uses. */
  lock: boolean;
}

const manifest = (parse: DependencyParser): DependencyFile => ({ parse, lock: false });
const lock = (parse: DependencyParser): DependencyFile => ({ parse, lock: true });
const OPAQUE: DependencyFile = { parse: null, lock: true };

const BY_NAME: ReadonlyMap<string, DependencyFile> = new Map([
  ['package.json', manifest(parsePackageJson)],
  ['package-lock.json', lock(parsePackageLock)],
  ['npm-shrinkwrap.json', lock(parsePackageLock)],
  ['pnpm-lock.yaml', lock(parsePnpmLock)],
  ['yarn.lock', lock(parseYarnLock)],
  ['bun.lock', lock(parseBunLock)],
  ['pyproject.toml', manifest(parsePyproject)],
  ['poetry.lock', lock(parsePackageTables)],
  ['uv.lock', lock(parsePackageTables)],
  ['pdm.lock', lock(parsePackageTables)],
  ['Cargo.toml', manifest(parseCargoToml)],
  ['Cargo.lock', lock(parsePackageTables)],
  ['go.mod', manifest(parseGoMod)],
  ['go.sum', lock(parseGoSum)],
  ['Gemfile', manifest(parseGemfile)],
  ['Gemfile.lock', lock(parseGemfileLock)],
  ['composer.json', manifest(parseComposerJson)],
  ['composer.lock', lock(parseComposerLock)],
  ['pom.xml', manifest(parsePom)],
  ['gradle.lockfile', lock(parseGradleLockfile)],
  ['buildscript-gradle.lockfile', lock(parseGradleLockfile)],
  ['libs.versions.toml', manifest(parseVersionCatalog)],
]);

const OPAQUE_NAMES =
  /^((build|settings)\.gradle(\.kts)?|(gradle|maven)-wrapper\.(jar|properties)|setup\.(py|cfg)|Pipfile(\.lock)?|bun\.lockb|\.pnpmfile\.[cm]?js|deno\.lock|pnpm-workspace\.yaml|mix\.(exs|lock)|pubspec\.(yaml|lock)|Package\.(swift|resolved)|packages\.(config|lock\.json)|Directory\.Packages\.props|.*\.(cs|fs|vb)proj|environment\.ya?ml|flake\.lock|go\.work(\.sum)?|.*\.gemspec)$/;
const REQUIREMENTS = /^(.*[-_.])?(requirements|constraints)([-_.].*)?\.(txt|in)$/;

/** null: not a file that names dependencies. */
export const dependencyFile = (path: string): DependencyFile | null => {
  const [name = '', folder = ''] = path.split('/').reverse();
  const known = BY_NAME.get(name);
  if (known !== undefined) return known;
  if (REQUIREMENTS.test(name) || (folder === 'requirements' && name.endsWith('.txt')))
    return manifest(parseRequirements);
  return OPAQUE_NAMES.test(name) || (folder === '.mvn' && name === 'extensions.xml') ? OPAQUE : null;
};

/** Whether setup has to run again when this file changes. */
export const isManifestOrLock = (path: string): boolean => dependencyFile(path) !== null;
