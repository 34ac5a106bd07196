import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';
import { parseRequirement } from './requirement.ts';

interface TomlLine {
  /** Name of the table, as written between the brackets. */
  table: string;
  key: string;
  /** The raw value; an array over several lines is one value. */
  value: string;
}

/**
 * As much of TOML as manifests and lock files of the tools use: tables, `key = value`, arrays over lines. Each `[[table]]` starts a new
 * `group`. A line that is something else is passed over.
 */
const tomlLines = function* (text: string): Generator<TomlLine & { group: number }> {
  let table = '';
  let group = 0;
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    const header = /^\[\[?([^\]]+)\]\]?\s*(#.*)?$/.exec(line);
    if (header !== null) {
      table = (header[1] ?? '').trim();
      group += 1;
      continue;
    }
    const pair = /^("[^"]*"|'[^']*'|[\w.-]+)\s*=\s*(.*)$/.exec(line);
    if (pair === null) continue;
    const parts = [pair[2] ?? ''];
    if (parts[0]?.startsWith('[') === true)
      while (!isClosed(parts.at(-1) ?? '') && at + 1 < lines.length) parts.push(lines[++at]?.trim() ?? '');
    yield { table, group, key: unquote(pair[1] ?? ''), value: parts.join('\n') };
  }
};

/** Whether a line ends an array: its last `]` is outside of strings (an extra such as `a[b]` is inside of one). */
const isClosed = (line: string): boolean => line.replace(/"[^"]*"|'[^']*'/g, '').includes(']');

const unquote = (value: string): string => /^(["'])(.*?)\1/.exec(value.trim())?.[2] ?? value.trim();
const strings = (value: string): string[] =>
  [...value.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map((match) => match[1] ?? match[2] ?? '');

/** `[[package]]` with `name`, `version` and where it comes from: Cargo.lock, poetry.lock, uv.lock, pdm.lock. */
export const parsePackageTables: DependencyParser = (text) => {
  const packages = new Map<number, { name: string; version: string; source: string }>();
  for (const { table, group, key, value } of tomlLines(text)) {
    if (table !== 'package') continue;
    const entry = packages.get(group) ?? { name: '', version: '', source: '' };
    if (key === 'name') entry.name = unquote(value);
    else if (key === 'version') entry.version = unquote(value);
    else if (['source', 'checksum', 'files', 'sdist', 'wheels'].includes(key)) entry.source += `${value} `;
    packages.set(group, entry);
  }
  const found = new Map<string, PinnedVersion[]>();
  for (const { name, version, source } of packages.values())
    if (name !== '') addVersion(found, name, { version, source });
  return found;
};

/** `"1"` or `{ version = "1", … }`. */
const versionOf = (value: string): string =>
  /^["']/.test(value) ? unquote(value) : (/version\s*=\s*(["'])(.*?)\1/.exec(value)?.[2] ?? value);

/** Tables whose last part ends in `dependencies`, and `[dependencies.name]`. */
export const parseCargoToml: DependencyParser = (text) => {
  const found = new Map<string, PinnedVersion[]>();
  for (const { table, key, value } of tomlLines(text)) {
    const named = /(?:^|[.-])dependencies\.([\w-]+)$/.exec(table)?.[1];
    if (named !== undefined) addVersion(found, named, { version: `${key} = ${value}` });
    else if (/(^|[.-])dependencies$/.test(table) || table === 'replace' || table.startsWith('patch.')) {
      addVersion(found, key, { version: versionOf(value), source: value });
    }
  }
  return found;
};

/** `[versions]`, `[libraries]`, `[plugins]` of a Gradle version catalog; bundles only name libraries together. */
export const parseVersionCatalog: DependencyParser = (text) => {
  const found = new Map<string, PinnedVersion[]>();
  for (const { table, key, value } of tomlLines(text))
    if (['versions', 'libraries', 'plugins'].includes(table))
      addVersion(found, `${table}.${key}`, { version: value.startsWith('{') ? value : unquote(value) });
  return found;
};

/** PEP 621, dependency groups, build requirements and poetry's tables. */
export const parsePyproject: DependencyParser = (text) => {
  const found = new Map<string, PinnedVersion[]>();
  for (const { table, key, value } of tomlLines(text)) {
    const listed =
      (table === 'project' && key === 'dependencies') ||
      (table === 'build-system' && key === 'requires') ||
      ['project.optional-dependencies', 'dependency-groups'].includes(table) ||
      (table === 'tool.uv' && key.endsWith('dependencies'));
    if (listed) {
      for (const requirement of strings(value).map(parseRequirement))
        if (requirement !== null) addVersion(found, ...requirement);
    } else if (/^tool\.(uv|pdm|poetry)\.(sources?|index)$/.test(table)) {
      // Where packages come from.
      addVersion(found, `${table}.${key}`, { version: unquote(value) });
    } else if (/^tool\.poetry\.(.*\.)?(dev-)?dependencies$/.test(table)) {
      addVersion(found, key, { version: versionOf(value), source: value });
    }
  }
  return found;
};
