import { resolve } from 'node:path';
import { UsageError } from '../../../errors.ts';
import { createRedactor, renderJson, systemClock } from '../../../events/index.ts';
import { parsePlace } from '../../../run/index.ts';
import { forkThread, openThread, stateFolder } from '../../../thread/index.ts';
import { copyKeptCarry } from '../../../workspace/index.ts';
import type { Handler } from '../../command.ts';
import { print } from '../../print.ts';
import { isGiven, textOf } from '../../read-options.ts';

/** `belay thread fork THREAD --from-turn N`: prints the id of the new thread, which `belay resume` goes on with. */
export const forkAction: Handler = async ({ io, options, words: [id = ''], version }) => {
  const text = textOf(options, 'from-turn');
  if (text === null) throw new UsageError('belay thread fork needs --from-turn N (0: the start)');
  const place = parsePlace(text);
  if (place === null || place.kind === 'final')
    throw new UsageError(`--from-turn: ${JSON.stringify(text)} is no turn or base`);
  const turn = place.kind === 'base' ? 0 : place.turn;
  const stateDir = stateFolder(io.env);
  const from = await openThread(stateDir, id);
  const goal = textOf(options, 'goal');
  if (goal !== null && goal.trim() === '') throw new UsageError('--goal is empty');
  const folder = textOf(options, 'workspace');
  const workspace = folder === null ? from.meta.workspace : resolve(io.cwd(), folder);
  const fork = await forkThread({
    ...{ stateDir, from, turn, goal, workspace, version },
    ...{ redactor: createRedactor([]), clock: systemClock },
    complete: (dir) => copyKeptCarry(from.dir, dir),
  });
  await print(
    io.stdout,
    isGiven(options, 'json') ? renderJson({ thread_id: fork, forked_from: { thread_id: id, turn } }) : `${fork}\n`,
  );
  if (!isGiven(options, 'json')) await print(io.stderr, `belay: belay resume ${fork} goes on with it\n`);
  return 0;
};
