import { createHash } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { layCommit } from './lay-commit.ts';
import { locateRepository } from './locate-repository.ts';
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
  apply(): Promise<void>;
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
    return {
      dir,
      expectedTree: expected?.tree ?? null,
      async apply() {
        const applied = await git.call(['apply', '--whitespace=nowarn', '-'], { stdin: options.patch });
        if (applied.code !== 0)
          throw new UsageError(`--patch does not apply to ${commit}: ${applied.stderr.trim()}`, { code: 'patch' });
      },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
