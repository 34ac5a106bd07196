import { UsageError } from '../errors.ts';
import { type Git, gitFailure, splitNul } from './git.ts';
import { missingObject } from './missing-object.ts';
import { textPath } from './text-path.ts';

export interface TreeEntry {
  mode: string;
  oid: string;
  path: string;
}

const OBJECT_ID = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const SUBMODULE = '160000';

/** Only full object ids pass: a ref or an option never reaches git from here. */
export const objectId = (text: string): string => {
  if (OBJECT_ID.test(text)) return text;
  throw new UsageError(`${JSON.stringify(text)} is not a full object id`, { code: 'not_an_object_id' });
};

/** Files and links of a tree, submodules left out. With `path`: that entry alone (or what is in that folder). */
export const treeEntries = async (git: Git, treeish: string, path?: string): Promise<TreeEntry[]> => {
  const listed = await git.run([
    'ls-tree',
    '-r',
    '-z',
    '--full-tree',
    objectId(treeish),
    ...(path === undefined ? [] : ['--', path]),
  ]);
  const entries: TreeEntry[] = [];
  for (const line of splitNul(listed)) {
    const tab = line.indexOf(9);
    const [mode = '', , oid = ''] = line.toString('latin1', 0, tab).split(' ');
    if (mode !== SUBMODULE) entries.push({ mode, oid, path: textPath(line.subarray(tab + 1)) });
  }
  return entries;
};

export interface BlobRequest {
  treeish: string;
  path: string;
  maxBytes: number;
}

export const readBlob = async (git: Git, { treeish, path, maxBytes }: BlobRequest): Promise<Buffer | null> => {
  // git would read `..` against its own folder.
  if (path.includes('\0') || path.split('/').some((part) => ['', '.', '..'].includes(part))) return null;
  const entry = (await treeEntries(git, treeish, path)).find((one) => one.path === path);
  if (entry === undefined) return null;
  const sized = await git.call(['cat-file', '-s', entry.oid]);
  if (sized.code !== 0) throw missingObject(path);
  const size = Number(sized.stdout.toString('latin1'));
  if (size > maxBytes) throw new UsageError(`${path} has ${size} bytes, more than ${maxBytes}`, { code: 'too_large' });
  const args = ['cat-file', 'blob', entry.oid];
  const result = await git.call(args, { maxBytes });
  if (result.code !== 0) throw gitFailure(args, result);
  return result.stdout;
};

/** Peels a ref, a tag or a commit id to its commit, in the user's repository. `option`: what the message calls it. */
export const resolveCommit = async (git: Git | null, ref: string, option = '--trust-ref'): Promise<string> => {
  if (git === null)
    throw new UsageError(`${option} ${ref}: the workspace is not in a git repository`, { code: 'trust_ref' });
  const found = await git.call(['rev-parse', '--verify', '-q', '--end-of-options', `${ref}^{commit}`]);
  const commit = found.stdout.toString('latin1').trim();
  if (found.code === 0 && OBJECT_ID.test(commit) && ref.trim() !== '') return commit;
  throw new UsageError(
    `${option} ${JSON.stringify(ref)} names no commit here; a shallow clone may lack it (fetch it first)`,
    { code: 'trust_ref' },
  );
};
