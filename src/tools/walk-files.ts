import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { codeOf } from '../errors.ts';
import { type IgnoreRules, parseIgnoreRules } from './ignore-rules.ts';

/** A `.gitignore` with the folder (relative to the root, '' for the root) that its rules are relative to. */
interface ScopedRules {
  folder: string;
  rules: IgnoreRules;
}

const MAX_IGNORE_BYTES = 256 * 1024;
const join = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

/**
 * Regular files below `base` (relative to `root`, '' for all), as paths relative to `root`, leaving out `.git` and what the
 * `.gitignore` files of the tree ignore. Links are not followed. Folders that cannot be read are passed over.
 */
export async function* walkFiles(root: string, base: string, signal: AbortSignal): AsyncGenerator<string> {
  const scopes: ScopedRules[] = [];
  let above = '';
  for (const part of base === '' ? [] : base.split('/')) {
    scopes.push(...(await loadRules(root, above)));
    above = join(above, part);
  }
  yield* walkFolder({ root, folder: base, scopes, signal });
}

async function* walkFolder(at: {
  root: string;
  folder: string;
  scopes: readonly ScopedRules[];
  signal: AbortSignal;
}): AsyncGenerator<string> {
  if (at.signal.aborted) return;
  const scopes = [...at.scopes, ...(await loadRules(at.root, at.folder))];
  const entries = await readFolder(path.join(at.root, at.folder));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.toLowerCase() === '.git') continue;
    const full = join(at.folder, entry.name);
    if (!entry.isDirectory() && !entry.isFile()) continue;
    if (isIgnored(scopes, full, entry.isDirectory())) continue;
    if (entry.isDirectory()) yield* walkFolder({ ...at, folder: full, scopes });
    else yield full;
  }
}

function isIgnored(scopes: readonly ScopedRules[], full: string, isFolder: boolean): boolean {
  for (const { folder, rules } of [...scopes].reverse()) {
    const answer = rules(folder === '' ? full : full.slice(folder.length + 1), isFolder);
    if (answer !== null) return answer;
  }
  return false;
}

async function readFolder(absolute: string): Promise<Dirent[]> {
  try {
    return await readdir(absolute, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === null) throw error;
    return [];
  }
}

async function loadRules(root: string, folder: string): Promise<ScopedRules[]> {
  const entries = await readFolder(path.join(root, folder));
  if (!entries.some((entry) => entry.name === '.gitignore' && entry.isFile())) return [];
  try {
    const file = path.join(root, folder, '.gitignore');
    const { size } = await lstat(file);
    return size > MAX_IGNORE_BYTES ? [] : [{ folder, rules: parseIgnoreRules(await readFile(file, 'utf8')) }];
  } catch (error) {
    if (codeOf(error) === null) throw error;
    return [];
  }
}
