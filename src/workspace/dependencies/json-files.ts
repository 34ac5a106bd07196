import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';
import { type ForeignRecord, isRecord, recordOf, textOf } from './record-of.ts';

type Json = ForeignRecord;

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const parseRecord = (text: string): Json => {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new SyntaxError('not an object');
  return value;
};

const SECTIONS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'overrides',
  'resolutions',
  'catalog',
];
/** Which package manager it is, what comes along in the package, and whose scripts may run. */
const WHOLE_FIELDS = [
  'packageManager',
  'devEngines',
  'bundleDependencies',
  'bundledDependencies',
  'trustedDependencies',
  'dependenciesMeta',
  'allowScripts',
  'catalogs',
];

const addSections = (found: Map<string, PinnedVersion[]>, file: Json, sections: readonly string[]): void => {
  for (const section of sections)
    for (const [name, version] of Object.entries(recordOf(file[section])))
      addVersion(found, name, { version: textOf(version) });
};

const addWhole = (found: Map<string, PinnedVersion[]>, file: Json, names: readonly string[], prefix = ''): void => {
  for (const name of names)
    if (file[name] !== undefined) addVersion(found, `${prefix}${name}`, { version: textOf(file[name]) });
};

/** Also what pnpm, bun and package managers as such read of it. */
export const parsePackageJson: DependencyParser = (text) => {
  const file = parseRecord(text);
  const found = new Map<string, PinnedVersion[]>();
  addSections(found, file, SECTIONS);
  for (const [name, value] of Object.entries(recordOf(file['pnpm'])))
    addVersion(found, `pnpm.${name}`, { version: textOf(value) });
  addWhole(found, file, WHOLE_FIELDS);
  addWhole(found, recordOf(file['workspaces']), ['catalog', 'catalogs'], 'workspaces.');
  return found;
};

export const parseComposerJson: DependencyParser = (text) => {
  const file = parseRecord(text);
  const found = new Map<string, PinnedVersion[]>();
  addSections(found, file, ['require', 'require-dev']);
  addWhole(found, file, ['repositories', 'replace', 'provide', 'minimum-stability']);
  addWhole(found, recordOf(file['config']), ['allow-plugins'], 'config.');
  return found;
};

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

/** In one pass, for text that is made to be slow to match. */
const withoutTrailingCommas = (text: string): string => {
  const kept: string[] = [];
  let from = 0;
  let comma = -1;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else inString = char !== '"';
    } else if (char === ',') comma = at;
    else if ((char === '}' || char === ']') && comma >= 0) {
      kept.push(text.slice(from, comma));
      from = comma + 1;
      comma = -1;
    } else if (char === undefined || !' \t\r\n'.includes(char)) {
      comma = -1;
      inString = char === '"';
    }
  }
  return kept.join('') + text.slice(from);
};

/** JSON with commas too many: `packages` holds `"name": ["name@version", …, "digest"]`. */
export const parseBunLock: DependencyParser = (text) => {
  const file = parseRecord(withoutTrailingCommas(text));
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
