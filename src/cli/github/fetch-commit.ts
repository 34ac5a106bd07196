import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { UsageError } from '../../errors.ts';

/** Nothing of the repository may start a program: it can be a stranger's. */
const SAFE = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'protocol.ext.allow=never'];

/** Makes sure that the commit is in the clone: a checkout of a pull request has its merge commit alone. */
export async function fetchCommit(commit: string, dir: string, env: NodeJS.ProcessEnv): Promise<void> {
  const git = (...args: string[]) =>
    call(args, { cwd: dir, env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1' } });
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new UsageError(`${JSON.stringify(commit)} is no commit`);
  if ((await git('cat-file', '-e', `${commit}^{commit}`)).works) return;
  const isShallow = (await git('rev-parse', '--is-shallow-repository')).says === 'true';
  const depth = isShallow ? ['--depth=1'] : [];
  const fetched = await git('fetch', '--quiet', '--no-tags', '--no-recurse-submodules', ...depth, 'origin', commit);
  if (!fetched.works)
    throw new UsageError(
      `the clone lacks ${commit}, which policy, instructions and tests are to come from, and it could not be fetched (${fetched.says}): check out with fetch-depth: 0, or give trust-ref`,
    );
}

/** A git that fails is an answer; one that does not start is not. */
async function call(
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ works: boolean; says: string }> {
  try {
    const { stdout } = await promisify(execFile)('git', [...SAFE, ...args], options);
    return { works: true, says: stdout.trim() };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) throw error;
    const says = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
    return { works: false, says: says.split('\n').at(-1) ?? '' };
  }
}
