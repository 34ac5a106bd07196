import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';

const unquote = (value: string): string => /^(["'])(.*?)\1/.exec(value.trim())?.[2] ?? value.trim();
const SOURCES = ['source', 'checksum', 'files', 'sdist', 'wheels', 'archive', 'vcs', 'index'];

/**
 * `[[package]]` (pylock.toml: `[[packages]]`) with `name`, `version` and where it comes from: Cargo.lock, poetry.lock, uv.lock, pdm.lock. Line by
 * line, as the tools write them: whatever else changes in a lock file is told as a change of the file.
 */
export const parsePackageTables: DependencyParser = (text) => {
  const found = new Map<string, PinnedVersion[]>();
  let entry: { name: string; version: string; source: string } | null = null;
  const finish = (): void => {
    if (entry !== null && entry.name !== '') addVersion(found, entry.name, entry);
    entry = null;
  };
  let isSource = false;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\[\[?([^\]]+)\]/.exec(line)?.[1]?.trim();
    if (header !== undefined) {
      finish();
      isSource = false;
      if (header === 'package' || header === 'packages') entry = { name: '', version: '', source: '' };
    }
    if (entry === null) continue;
    const [, key = '', value = ''] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (key !== '') isSource = SOURCES.includes(key);
    if (key === 'name') entry.name = unquote(value);
    else if (key === 'version') entry.version = unquote(value);
    else if (isSource) entry.source += `${key === '' ? line.trim() : value} `;
  }
  finish();
  return found;
};
