import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../../errors.ts';
import { oneLine, renderJson } from '../../../events/index.ts';
import { listThreads, stateFolder, type ThreadSummary } from '../../../thread/index.ts';
import type { Handler } from '../../command.ts';
import { print } from '../../print.ts';
import { isGiven, textOf } from '../../read-options.ts';

/** `belay thread list`: every thread of the state folder, oldest first; with `--workspace`, those of one folder. */
export const listAction: Handler = async ({ io, options }) => {
  const given = textOf(options, 'workspace');
  const workspace = given === null ? null : await realFolder(resolve(io.cwd(), given));
  const closed: string[] = [];
  const all = await listThreads(stateFolder(io.env), (id, reason) =>
    closed.push(`belay: ${id} cannot be opened: ${reason}\n`),
  );
  const threads = all.filter((thread) => workspace === null || thread.workspace === workspace);
  await print(io.stdout, isGiven(options, 'json') ? renderJson(threads.map(toJson)) : render(threads));
  for (const line of closed) await print(io.stderr, line);
  return 0;
};

async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw new UsageError(`--workspace: ${path} is not a folder that can be read`, { cause: error });
  }
}

const GOAL_LENGTH = 80;

function render(threads: readonly ThreadSummary[]): string {
  return threads
    .map(({ id, created, outcome, goal, workspace }) => {
      const state = outcome ?? 'unfinished';
      return `${id}  ${created}  ${state.padEnd(17)}  ${oneLine(goal, GOAL_LENGTH)}  (${oneLine(workspace)})\n`;
    })
    .join('');
}

function toJson({ id, workspace, goal, created, outcome }: ThreadSummary) {
  return { thread_id: id, workspace, goal, created, outcome };
}
