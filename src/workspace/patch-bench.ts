import { createHash } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { type Git, splitNul } from './git.ts';
import { layCommit } from './lay-commit.ts';
import { locateRepository } from './locate-repository.ts';
import { statBelow } from './stat-below.ts';
import { textPath } from './text-path.ts';
import { type RawChange, rawChanges, SUBMODULE } from './tree-diff.ts';
import { resolveCommit } from './tree-reader.ts';

export interface PatchBenchOptions {
  /** A folder in the repository that has the base. */
  dir: string;
  path: string;
  /** Commit that the patch is for. */
  base: string;
  patch: Buffer;
  /** What a result says of the patch; null where there is none to compare. */
  expected: { patchSha256: string | null; baseCommit: string | null; tree: string | null } | null;
}

/** A fresh tree of the base, in a folder of its own, for a job that never saw the agent. */
export interface PatchBench {
  readonly dir: string;
  /** Real path of the root of the repository that has the base. */
  readonly root: string;
  apply(): Promise<void>;
  /**
   * Why the patch, once applied, is more than a snapshot with these paths shows (a submodule, a file that the tree's own rules ignore): it
   * would be delivered unjudged. null where it is not.
   */
  faultOf(paths: readonly string[]): string | null;
  /** Tree that the patch has to give, as the result says; null where there is none to compare. */
  readonly expectedTree: string | null;
  remove(): Promise<void>;
}

/** Throws UsageError when the base is unknown, or the patch is not the one that the result is about. */
export async function createPatchBench(options: PatchBenchOptions): Promise<PatchBench> {
  const { program, repository } = await locateRepository(options);
  if (repository === null) throw new UsageError(`--base: ${options.dir} is not in a git repository`);
  const commit = await resolveCommit(repository.git, options.base, '--base');
  const { expected } = options;
  const digest = createHash('sha256').update(options.patch).digest('hex');
  if (expected !== null && expected.patchSha256 !== digest)
    throw new UsageError(
      `--expect: the result is about another patch (${expected.patchSha256 ?? 'none'}, not ${digest})`,
      { code: 'expect' },
    );
  if (expected !== null && expected.baseCommit !== commit)
    throw new UsageError(`--expect: the result is about the base ${expected.baseCommit ?? 'none'}, not ${commit}`, {
      code: 'expect',
    });
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'belay-verify-')));
  const dir = join(folder, 'tree');
  try {
    const git = await layCommit({ program, repository, commit, dir });
    const indexFile = join(folder, 'patched-index');
    let changes: readonly RawChange[] = [];
    const applyTo = async (place: 'checkout' | 'index') => {
      const args = ['apply', '--whitespace=nowarn', ...(place === 'index' ? ['--cached'] : []), '-'];
      const applied = await git.call(args, { stdin: options.patch, ...(place === 'index' ? { indexFile } : {}) });
      if (applied.code !== 0) throw doesNotApply(place === 'index' ? `the index of ${commit}` : commit, applied);
    };
    return {
      dir,
      root: repository.root,
      expectedTree: expected?.tree ?? null,
      async apply() {
        const before = await indexOfTouched(git, { commit, dir, indexFile, patch: options.patch });
        await applyTo('checkout');
        await applyTo('index');
        changes = await rawChanges(git, ['diff-index', '--cached', before], { indexFile });
      },
      faultOf(paths) {
        const seen = new Set(paths);
        for (const { path, from, to } of changes) {
          if (from?.mode === SUBMODULE || to?.mode === SUBMODULE)
            return `the patch changes the submodule ${JSON.stringify(path)}, which is no part of a verified change`;
          if (seen.has(path) !== (to !== null))
            return `the patch changes ${JSON.stringify(path)}, which git ignores in the patched tree: nothing judged it`;
        }
        return null;
      },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

const doesNotApply = (where: string, { stderr }: { stderr: string }): UsageError =>
  new UsageError(`--patch does not apply to ${where}: ${stderr.trim()}`, { code: 'patch' });

/** An index of the base with the files that the patch is about as setup left them; returns its tree. */
async function indexOfTouched(
  git: Git,
  { commit, dir, indexFile, patch }: { commit: string; dir: string; indexFile: string; patch: Buffer },
): Promise<string> {
  await git.run(['read-tree', commit], { indexFile });
  const touched = await git.call(['apply', '--numstat', '-z', '-'], { stdin: patch });
  if (touched.code !== 0) throw doesNotApply(commit, touched);
  const folders = new Map<string, boolean>();
  const stdin = splitNul(touched.stdout)
    .map((line) => textPath(line.subarray(line.indexOf(9, line.indexOf(9) + 1) + 1)))
    // A folder (a submodule's, or one that a file takes the place of) stays as the base has it: git takes none, and nothing after it.
    .filter((path) => statBelow(dir, path, folders)?.isDirectory() !== true)
    .map((path) => `${path}\0`);
  const taken = await git.call(['update-index', '--add', '--remove', '-z', '--stdin'], {
    indexFile,
    stdin: stdin.join(''),
  });
  if (taken.code !== 0) throw doesNotApply(commit, taken);
  return (await git.run(['write-tree'], { indexFile })).toString('latin1').trim();
}
