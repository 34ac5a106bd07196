import { createHash } from 'node:crypto';
import { UsageError } from '../errors.ts';
import type { ChangedFile, FileChange } from '../events/index.ts';
import { type Git, type GitOptions, gitFailure, splitNul } from './git.ts';
import { firstMissing, missingObject, objectSizes } from './missing-object.ts';
import { textPath } from './text-path.ts';
import { objectId } from './tree-reader.ts';
import type { TreeChange, TreeId } from './workspace.ts';

/** No patch is larger: what a person is to review and a log is to hold ends long before. */
export const MAX_PATCH_BYTES = 256 * 1024 * 1024;

export interface TreePair {
  from: TreeId;
  to: TreeId;
}

/** One path that differs; `null`: absent on that side. */
export interface RawChange {
  path: string;
  from: { mode: string; oid: string } | null;
  to: { mode: string; oid: string } | null;
}

export interface TreeEntryChange extends RawChange, FileChange {}

const ABSENT_MODE = '000000';
export const SUBMODULE = '160000';

/** What one of git's ways to compare tells (`diff-tree -r`, `diff-index --cached`), submodules among it. */
export const rawChanges = async (
  git: Git,
  [command = '', ...args]: readonly string[],
  options: GitOptions = {},
): Promise<RawChange[]> => {
  const format = ['-z', '--raw', '--no-renames', '--no-abbrev'];
  const fields = splitNul(await git.run([command, ...format, ...args], options));
  const changes: RawChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [fromMode = '', toMode = '', fromOid = '', toOid = ''] = (fields[at]?.toString('latin1') ?? '')
      .slice(1)
      .split(' ');
    changes.push({
      path: textPath(fields[at + 1] ?? Buffer.alloc(0)),
      from: fromMode === ABSENT_MODE ? null : { mode: fromMode, oid: fromOid },
      to: toMode === ABSENT_MODE ? null : { mode: toMode, oid: toOid },
    });
  }
  return changes;
};

/** Both sides of each path that differs, submodules left out. */
export const entryChanges = async (git: Git, { from, to }: TreePair): Promise<TreeEntryChange[]> => {
  if (from === to) return [];
  const changes = await rawChanges(git, ['diff-tree', '-r', objectId(from), objectId(to)]);
  return changes
    .filter((change) => change.from?.mode !== SUBMODULE && change.to?.mode !== SUBMODULE)
    .map((change) => ({
      ...change,
      kind: change.from === null ? 'add' : change.to === null ? 'delete' : 'update',
    }));
};

const PATCH = [
  '-p',
  '--binary',
  '--full-index',
  '--no-renames',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=all',
];
const PREFIXES = ['--src-prefix=a/', '--dst-prefix=b/', '--diff-algorithm=myers'];

/** `maxBytes`: of the patch, and of the binary contents that go into it. */
export const diffTrees = async (git: Git, { from, to }: TreePair, maxBytes: number): Promise<TreeChange> => {
  const changes = await entryChanges(git, { from, to });
  if (changes.length === 0) return { files: [], patch: Buffer.alloc(0), sha256: sha256Of(Buffer.alloc(0)) };
  const counts = await countLines(git, { from, to });
  const files = changes.map(
    ({ path, kind }): ChangedFile => ({ path, kind, ...(counts.get(path) ?? { added: 0, removed: 0, binary: false }) }),
  );
  const binary = new Set(files.filter((file) => file.binary).map((file) => file.path));
  await refuseLarge(
    git,
    changes.filter((change) => binary.has(change.path)),
    maxBytes,
  );
  const args = ['diff-tree', '-r', ...PATCH, ...PREFIXES, from, to];
  const patch = await git.run(args, { maxBytes });
  return { files, patch, sha256: sha256Of(patch) };
};

const countLines = async (
  git: Git,
  { from, to }: TreePair,
): Promise<Map<string, Omit<ChangedFile, 'path' | 'kind'>>> => {
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--numstat',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--ignore-submodules=all',
    from,
    to,
  ];
  const result = await git.call(args);
  if (result.code !== 0) throw await explainMissing(git, { from, to }, gitFailure(args, result));
  const counts = new Map<string, Omit<ChangedFile, 'path' | 'kind'>>();
  for (const entry of splitNul(result.stdout)) {
    const [added = '', removed = '', path = ''] = textPath(entry).split(/\t(.*?)\t(.*)/s);
    const binary = added === '-';
    counts.set(path, { added: binary ? 0 : Number(added), removed: binary ? 0 : Number(removed), binary });
  }
  return counts;
};

/** git holds both sides of a binary change in memory to write it. */
const refuseLarge = async (git: Git, changes: readonly TreeEntryChange[], maxBytes: number): Promise<void> => {
  const oids = changes.flatMap(({ from, to }) => [from?.oid, to?.oid]).filter((oid) => oid !== undefined);
  const sizes = await objectSizes(git, oids);
  let bytes = 0;
  for (const { path, from, to } of changes) {
    bytes += (sizes.get(from?.oid ?? '') ?? 0) + (sizes.get(to?.oid ?? '') ?? 0);
    if (bytes > maxBytes)
      throw new UsageError(`the change to binary files is too large for a patch (at ${path}: over ${maxBytes} bytes)`, {
        code: 'too_large',
      });
  }
};

const explainMissing = async (git: Git, pair: TreePair, failure: UsageError): Promise<UsageError> => {
  const changes = await entryChanges(git, pair);
  const sides = changes.flatMap(({ path, from, to }) =>
    [from, to].flatMap((side) => (side === null ? [] : [{ ...side, path }])),
  );
  const lacking = await firstMissing(git, sides);
  return lacking === null ? failure : missingObject(lacking);
};

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
