import { appendFile, lstat, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { type Git, splitNul } from './git.ts';
import { EXACT_BUT_LINE_ENDS, type Store } from './store.ts';
import { textPath } from './text-path.ts';

export interface ConversionQuery {
  git: Git;
  store: Store;
  root: string;
  /** Tracked `.gitattributes` files, relative to root. */
  attributeFiles: readonly string[];
  /** The user's `info/attributes`. */
  ownAttributes: string;
}

const CONVERTS = /\b(eol|crlf|ident|working-tree-encoding)\b/;
const MAX_ATTRIBUTES_BYTES = 1024 * 1024;
/** Each is a pattern that git compares with every path it looks at. */
const MAX_FILES = 2000;

/**
 * Tracked files that git itself stores otherwise than they lie on disk (`*.bat eol=crlf`, UTF-16 sources, `$Id$`) go on being stored
 * so, by the attributes of the start: a patch then changes the lines that changed, and restore writes what a checkout would. The
 * conversions are git's own; none runs a program. All other files, new ones among them, stay exact.
 */
export const keepConversions = async (query: ConversionQuery): Promise<void> => {
  const { git, store, root, attributeFiles, ownAttributes } = query;
  const texts = await Promise.all(attributeFiles.map((path) => readAttributes(join(root, path))));
  if (![...texts, ownAttributes].some((text) => CONVERTS.test(text))) return;
  const target = join(store.gitDir, 'info/attributes');
  const exact = await readFile(target, 'utf8');
  await writeFile(target, ownAttributes);
  const names = ['text', 'eol', 'ident', 'working-tree-encoding'];
  const stdin = await git.run(['ls-files', '-z']);
  const told = splitNul(await git.run(['check-attr', '-z', '--stdin', ...names], { stdin }));
  const byPath = new Map<string, Map<string, string>>();
  for (let at = 0; at + 2 < told.length; at += 3) {
    const path = textPath(told[at] ?? Buffer.alloc(0));
    const values = byPath.get(path) ?? new Map<string, string>();
    byPath.set(path, values.set(String(told[at + 1]), String(told[at + 2])));
  }
  const lines = [...byPath].flatMap(([path, values]) => render(path, values));
  await writeFile(target, lines.length > MAX_FILES ? `${EXACT_BUT_LINE_ENDS}\n` : exact);
  if (lines.length <= MAX_FILES) await appendFile(target, lines.join(''));
};

const render = (path: string, values: ReadonlyMap<string, string>): string[] => {
  const kept: string[] = [];
  if (values.get('eol') === 'crlf' && values.get('text') !== 'unset') {
    kept.push(values.get('text') === 'auto' ? 'text=auto' : 'text', 'eol=crlf');
  }
  if (values.get('ident') === 'set') kept.push('ident');
  const encoding = values.get('working-tree-encoding') ?? 'unspecified';
  if (!['unspecified', 'set', 'unset'].includes(encoding)) kept.push('text', `working-tree-encoding=${encoding}`);
  return kept.length === 0 ? [] : [`${pattern(path)} ${kept.join(' ')}\n`];
};

/** A path as a pattern for itself alone, quoted as git reads it. */
const pattern = (path: string): string => {
  const escaped = `/${path.replace(/[\\*?[\]]/g, '\\$&')}`;
  const quoted = escaped.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r');
  return `"${quoted}"`;
};

const readAttributes = async (path: string): Promise<string> => {
  try {
    const stats = await lstat(path);
    return stats.isFile() && stats.size <= MAX_ATTRIBUTES_BYTES ? await readFile(path, 'utf8') : '';
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return '';
    throw error;
  }
};
