import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';

type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

const parseRecord = (text: string): Json => {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new SyntaxError('not an object');
  return value;
};

const sections =
  (...names: string[]): DependencyParser =>
  (text) => {
    const file = parseRecord(text);
    const found = new Map<string, PinnedVersion[]>();
    for (const section of names) {
      for (const [name, version] of Object.entries(recordOf(file[section])))
        addVersion(found, name, { version: textOf(version) });
    }
    return found;
  };

const packageSections = sections(
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'overrides',
  'resolutions',
  'catalog',
);
/** Also what pnpm and package managers read of it. */
export const parsePackageJson: DependencyParser = (text) => {
  const found = packageSections(text);
  const file = parseRecord(text);
  for (const [name, value] of Object.entries(recordOf(file['pnpm'])))
    addVersion(found, `pnpm.${name}`, { version: textOf(value) });
  for (const name of ['packageManager', 'bundleDependencies', 'bundledDependencies', 'trustedDependencies'])
    if (file[name] !== undefined) addVersion(found, name, { version: textOf(file[name]) });
  return found;
};
export const parseComposerJson = sections('require', 'require-dev');

/** `packages` (npm 7 and later), else the nested `dependencies` of npm 6. */
export const parsePackageLock: DependencyParser = (text) => {
  const file = parseRecord(text);
  const found = new Map<string, PinnedVersion[]>();
  const add = (name: string, entry: Json): void => {
    const source = [entry['resolved'], entry['integrity']]
      .filter((part) => part !== undefined)
      .map(textOf)
      .join(' ');
    addVersion(found, name, { version: entry['link'] === true ? 'link' : textOf(entry['version'] ?? ''), source });
  };
  if (isRecord(file['packages'])) {
    for (const [path, entry] of Object.entries(file['packages'])) {
      const at = path.lastIndexOf('node_modules/');
      if (at >= 0) add(path.slice(at + 'node_modules/'.length), recordOf(entry));
    }
    return found;
  }
  const waiting = [recordOf(file['dependencies'])];
  for (let level = waiting.pop(); level !== undefined; level = waiting.pop()) {
    for (const [name, entry] of Object.entries(level)) {
      add(name, recordOf(entry));
      waiting.push(recordOf(recordOf(entry)['dependencies']));
    }
  }
  return found;
};

/** JSON with commas too many: `packages` holds `"name": ["name@version", …, "digest"]`. */
export const parseBunLock: DependencyParser = (text) => {
  const file = parseRecord(text.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, '$1'));
  const found = new Map<string, PinnedVersion[]>();
  for (const entry of Object.values(recordOf(file['packages']))) {
    const [named, ...more]: unknown[] = Array.isArray(entry) ? entry : [];
    const at = textOf(named).lastIndexOf('@');
    const source = more.filter((part) => typeof part === 'string').join(' ');
    addVersion(found, textOf(named).slice(0, at), { version: textOf(named).slice(at + 1), source });
  }
  return found;
};

export const parseComposerLock: DependencyParser = (text) => {
  const file = parseRecord(text);
  const found = new Map<string, PinnedVersion[]>();
  for (const entry of [...listOf(file['packages']), ...listOf(file['packages-dev'])]) {
    const source = textOf(recordOf(entry['dist'])['url'] ?? recordOf(entry['source'])['url'] ?? '');
    addVersion(found, textOf(entry['name']), { version: textOf(entry['version']), source });
  }
  return found;
};
