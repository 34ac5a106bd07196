import { realpath } from 'node:fs/promises';
import { codeOf, UsageError } from '../errors.ts';
import { isWithin } from '../sandbox/index.ts';

/**
 * A job file of the repository may come from whoever opened a pull request: what it names is sent to the model, and therefore has to be in the
 * repository, links followed. A job file from elsewhere is the caller's own, and may name any file. Throws UsageError.
 */
export async function confineJobFiles(jobFile: string | null, root: string): Promise<(path: string) => Promise<void>> {
  const top = await followed(root);
  const own = jobFile === null ? null : await followed(jobFile);
  if (top === null || own === null || !isWithin(top, own)) return async () => undefined;
  return async (path) => {
    const real = await followed(path);
    if (real !== null && !isWithin(top, real))
      throw new UsageError(`${path} is outside of the repository (${real}), and the job file is inside of it`);
  };
}

/** null: there is nothing. Whoever reads it next says so. */
async function followed(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}
