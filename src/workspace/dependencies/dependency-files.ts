export type DependencyFormat =
  | 'packageJson'
  | 'packageLock'
  | 'pnpmLock'
  | 'yarnLock'
  | 'bunLock'
  | 'pyproject'
  | 'packageTables'
  | 'cargoToml'
  | 'goMod'
  | 'goSum'
  | 'gemfile'
  | 'gemfileLock'
  | 'composerJson'
  | 'composerLock'
  | 'pom'
  | 'gradleLockfile'
  | 'versionCatalog'
  | 'requirements';

export interface DependencyFile {
  /** null: no safe and simple way to read it; any change to it is one change. */
  format: DependencyFormat | null;
  /** In a lock file every change counts, also one that moves no version; a manifest has other uses. */
  lock: boolean;
}

const manifest = (format: DependencyFormat): DependencyFile => ({ format, lock: false });
const lock = (format: DependencyFormat): DependencyFile => ({ format, lock: true });
const OPAQUE: DependencyFile = { format: null, lock: true };

const BY_NAME: ReadonlyMap<string, DependencyFile> = new Map([
  ['package.json', manifest('packageJson')],
  ['package-lock.json', lock('packageLock')],
  ['npm-shrinkwrap.json', lock('packageLock')],
  ['pnpm-lock.yaml', lock('pnpmLock')],
  ['yarn.lock', lock('yarnLock')],
  ['bun.lock', lock('bunLock')],
  ['pyproject.toml', manifest('pyproject')],
  ['poetry.lock', lock('packageTables')],
  ['uv.lock', lock('packageTables')],
  ['pdm.lock', lock('packageTables')],
  ['Cargo.toml', manifest('cargoToml')],
  ['Cargo.lock', lock('packageTables')],
  ['go.mod', manifest('goMod')],
  ['go.sum', lock('goSum')],
  ['Gemfile', manifest('gemfile')],
  ['Gemfile.lock', lock('gemfileLock')],
  ['gems.rb', manifest('gemfile')],
  ['gems.locked', lock('gemfileLock')],
  ['composer.json', manifest('composerJson')],
  ['composer.lock', lock('composerLock')],
  ['pom.xml', manifest('pom')],
  ['gradle.lockfile', lock('gradleLockfile')],
  ['buildscript-gradle.lockfile', lock('gradleLockfile')],
]);

const OPAQUE_NAMES =
  /^(.*\.gradle(\.kts)?|verification-metadata\.xml|package\.(json5|yaml)|\.pnp\.(cjs|loader\.mjs)|uv\.toml|(gradle|maven)-wrapper\.(jar|properties)|setup\.(py|cfg)|Pipfile(\.lock)?|bun\.lockb|\.pnpmfile\.[cm]?js|deno\.lock|pnpm-workspace\.yaml|mix\.(exs|lock)|pubspec\.(yaml|lock)|Package\.(swift|resolved)|packages\.(config|lock\.json)|Directory\.Packages\.props|.*\.(cs|fs|vb)proj|environment\.ya?ml|flake\.lock|go\.work(\.sum)?|.*\.gemspec)$/;
const PYTHON_LOCK = /^pylock(\.[^.]+)?\.toml$/;
const REQUIREMENTS = /^(.*[-_.])?(requirements|constraints)([-_.].*)?\.(txt|in)$/;

/** null: not a file that names dependencies. */
export const dependencyFile = (path: string): DependencyFile | null => {
  const [name = '', folder = ''] = path.split('/').reverse();
  const known = BY_NAME.get(name);
  if (known !== undefined) return known;
  if (name.endsWith('.versions.toml')) return manifest('versionCatalog');
  if (PYTHON_LOCK.test(name)) return lock('packageTables');
  if (REQUIREMENTS.test(name) || (folder === 'requirements' && name.endsWith('.txt'))) return manifest('requirements');
  return OPAQUE_NAMES.test(name) || (folder === '.mvn' && name === 'extensions.xml') ? OPAQUE : null;
};

/** Whether setup has to run again when this file changes. */
export const isManifestOrLock = (path: string): boolean => dependencyFile(path) !== null;
