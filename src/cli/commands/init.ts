import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { codeOf, hasCode, UsageError } from '../../errors.ts';
import { proposeStarter } from '../../policy/index.ts';
import { isExecutable } from '../../sandbox/index.ts';
import type { Handler } from '../command.ts';
import { print } from '../print.ts';
import { isGiven, textOf } from '../read-options.ts';

/** `belay init`: a starter policy from what the repository shows. Never replaces one unless told to. */
export const initPolicy: Handler = async ({ io, options }) => {
  const dir = resolve(io.cwd(), textOf(options, 'workspace') ?? '.');
  const path = join(dir, 'belay.yml');
  const { text, hasChecks } = await proposeStarter(dir, {
    home: homedir(),
    path: io.env['PATH'] ?? '',
    node: process.execPath,
    isExecutable,
  });
  try {
    await writeFile(path, text, { flag: isGiven(options, 'force') ? 'w' : 'wx' });
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw new UsageError(`${path} exists; replace it with --force`, { cause: error });
    throw new UsageError(`cannot write ${path} (${codeOf(error)})`, { cause: error });
  }
  const lacking = hasChecks
    ? ''
    : 'No test command was found: name a check in it, or a run ends as unchecked (exit 3).\n';
  await print(
    io.stdout,
    `wrote ${path}\n${lacking}Read it, commit it, then: belay policy check && belay run 'the goal'\n`,
  );
  return 0;
};
