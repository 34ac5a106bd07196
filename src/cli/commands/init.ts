import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { proposePolicy, readRepositoryFacts } from '../../policy/index.ts';
import type { Handler } from '../command.ts';
import { print } from '../print.ts';
import { isGiven, textOf } from '../read-options.ts';

/** `belay init`: a starter policy from what the repository shows. Never replaces one unless told to. */
export const initPolicy: Handler = async ({ io, options }) => {
  const dir = resolve(io.cwd(), textOf(options, 'workspace') ?? '.');
  const path = join(dir, 'belay.yml');
  const text = proposePolicy(await readRepositoryFacts(dir));
  try {
    await writeFile(path, text, { flag: isGiven(options, 'force') ? 'w' : 'wx' });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST') throw new UsageError(`${path} exists; replace it with --force`, { cause: error });
    throw new UsageError(`cannot write ${path} (${String(code)})`, { cause: error });
  }
  await print(io.stdout, `wrote ${path}\nRead it, commit it, then: belay policy check && belay run 'the goal'\n`);
  return 0;
};
