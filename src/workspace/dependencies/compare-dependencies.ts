import type { DependencyChange } from '../../events/index.ts';
import { type DependencyFormat, dependencyFile } from './dependency-files.ts';
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
import { parsePackageTables } from './package-tables.ts';
import type { DependencyParser, PinnedVersion } from './pinned-version.ts';
import { parseCargoToml, parsePyproject, parseVersionCatalog } from './toml-files.ts';

const PARSERS: Readonly<Record<DependencyFormat, DependencyParser>> = {
  packageJson: parsePackageJson,
  packageLock: parsePackageLock,
  pnpmLock: parsePnpmLock,
  yarnLock: parseYarnLock,
  bunLock: parseBunLock,
  pyproject: parsePyproject,
  packageTables: parsePackageTables,
  cargoToml: parseCargoToml,
  goMod: parseGoMod,
  goSum: parseGoSum,
  gemfile: parseGemfile,
  gemfileLock: parseGemfileLock,
  composerJson: parseComposerJson,
  composerLock: parseComposerLock,
  pom: parsePom,
  gradleLockfile: parseGradleLockfile,
  versionCatalog: parseVersionCatalog,
  requirements: parseRequirements,
};

/** null: the file is not there on that side. Pure. */
export const compareDependencies = (
  path: string,
  before: string | null | undefined,
  after: string | null | undefined,
): DependencyChange[] => {
  const file = dependencyFile(path);
  if (file === null || (before === after && before !== undefined)) return [];
  const whole: DependencyChange[] = [{ path, name: '(file changed)', from: null, to: null }];
  const [old, now] = [versionsIn(file.format, before), versionsIn(file.format, after)];
  if (old === null || now === null) return whole;
  const changes: DependencyChange[] = [];
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [from, to] = [versionText(old.get(name)), versionText(now.get(name))];
    if (from !== to) changes.push({ path, name, from, to });
    else if (sourceText(old.get(name)) !== sourceText(now.get(name)))
      changes.push({ path, name, from, to: `${to} (from another source)` });
  }
  return changes.length === 0 && file.lock ? whole : changes;
};

const versionsIn = (
  format: DependencyFormat | null,
  text: string | null | undefined,
): Map<string, PinnedVersion[]> | null => {
  if (text === null) return new Map();
  if (text === undefined || format === null) return null;
  try {
    return PARSERS[format](text);
  } catch (error) {
    // The text is the agent's: broken on purpose or not, it is reported as changed.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
};

const versionText = (versions: readonly PinnedVersion[] | undefined): string | null =>
  versions === undefined ? null : [...new Set(versions.map(({ version }) => version))].sort().join(', ');

const sourceText = (versions: readonly PinnedVersion[] | undefined): string =>
  (versions ?? [])
    .map(({ version, source }) => `${version} ${source ?? ''}`)
    .sort()
    .join('\n');
