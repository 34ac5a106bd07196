import { parse, TomlError } from 'smol-toml';
import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';
import { type ForeignRecord, isRecord, recordOf, textOf } from './record-of.ts';
import { parseRequirement } from './requirement.ts';

type Found = Map<string, PinnedVersion[]>;

/** What a manifest says can be written in many ways, which only a whole parser knows all of. */
const parseTable = (text: string): ForeignRecord => {
  try {
    return parse(text.replace(/^\uFEFF/, ''), { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (error instanceof TomlError) throw new SyntaxError(error.message);
    throw error;
  }
};

/** `{ path = "../b", features = ["x"] }` */
const inline = (value: unknown): string =>
  isRecord(value)
    ? `{ ${Object.entries(value)
        .map(([key, part]) => `${key} = ${typeof part === 'string' ? JSON.stringify(part) : inline(part)}`)
        .join(', ')} }`
    : textOf(value);

/** `"1"`, or a table that may have a `version`. */
const addPinned = (found: Found, name: string, value: unknown): void => {
  const version = isRecord(value) && typeof value['version'] === 'string' ? value['version'] : inline(value);
  addVersion(found, name, { version, source: textOf(value) });
};

const IS_LIST = /(?:^|[-_])dependencies$/;

/** Tables whose name ends in `dependencies`, here and below `workspace` and `target`; `patch` and `replace`. */
export const parseCargoToml: DependencyParser = (text) => {
  const file = parseTable(text);
  const found: Found = new Map();
  const tables = [file, recordOf(file['workspace']), ...Object.values(recordOf(file['target'])).map(recordOf)];
  const lists = tables.flatMap((table) =>
    Object.entries(table).flatMap(([key, value]) => (IS_LIST.test(key) ? [recordOf(value)] : [])),
  );
  const replacing = [...Object.values(recordOf(file['patch'])).map(recordOf), recordOf(file['replace'])];
  for (const list of [...lists, ...replacing])
    for (const [name, value] of Object.entries(list)) addPinned(found, name, value);
  return found;
};

/** `[versions]`, `[libraries]`, `[plugins]` of a Gradle version catalog; bundles only name libraries together. */
export const parseVersionCatalog: DependencyParser = (text) => {
  const file = parseTable(text);
  const found: Found = new Map();
  for (const section of ['versions', 'libraries', 'plugins'])
    for (const [name, value] of Object.entries(recordOf(file[section])))
      addVersion(found, `${section}.${name}`, { version: inline(value) });
  return found;
};

const addRequirements = (found: Found, list: unknown): void => {
  for (const entry of Array.isArray(list) ? list : []) {
    const requirement = typeof entry === 'string' ? parseRequirement(entry) : null;
    if (requirement === null) addVersion(found, '(other)', { version: inline(entry) });
    else addVersion(found, ...requirement);
  }
};

/** A list of requirements, lists of them by group, or poetry's table of names. */
const addList = (found: Found, list: unknown): void => {
  if (Array.isArray(list)) addRequirements(found, list);
  for (const [name, value] of Object.entries(recordOf(list)))
    if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) addRequirements(found, value);
    else for (const one of Array.isArray(value) ? value : [value]) addPinned(found, name, one);
};

/** Where packages come from, by the tools that install them. */
const IS_SOURCE = /^(sources?|index|(extra-|default-)?index-url|find-links|no-index)$/;

/** PEP 621, dependency groups, build requirements, and what tools list or where they take it from, at any depth. */
export const parsePyproject: DependencyParser = (text) => {
  const file = parseTable(text);
  const found: Found = new Map();
  addRequirements(found, recordOf(file['build-system'])['requires']);
  for (const group of Object.values(recordOf(file['dependency-groups']))) addRequirements(found, group);
  const tools = recordOf(file['tool']);
  const waiting: ForeignRecord[] = [recordOf(file['project']), tools];
  for (let table = waiting.pop(); table !== undefined; table = waiting.pop()) {
    for (const [key, value] of Object.entries(table)) {
      if (IS_LIST.test(key)) addList(found, value);
      else if (isRecord(value)) waiting.push(value);
    }
  }
  const places: Readonly<Record<string, unknown>> = {
    'tool.uv': tools['uv'],
    'tool.uv.pip': recordOf(tools['uv'])['pip'],
    'tool.pdm': tools['pdm'],
    'tool.poetry': tools['poetry'],
  };
  for (const [place, settings] of Object.entries(places)) {
    for (const [key, value] of Object.entries(recordOf(settings)).filter(([name]) => IS_SOURCE.test(name))) {
      for (const one of Array.isArray(value) ? value : [value])
        if (isRecord(one) && one === value)
          for (const [name, source] of Object.entries(one))
            addVersion(found, `${place}.${key}.${name}`, { version: inline(source) });
        else addVersion(found, `${place}.${key}`, { version: inline(one) });
    }
  }
  return found;
};
