import { UsageError } from '../../../errors.ts';
import { oneLine, renderJson } from '../../../events/index.ts';
import { type Place, parsePlace, rollbackThread } from '../../../run/index.ts';
import { stateFolder } from '../../../thread/index.ts';
import type { Handler } from '../../command.ts';
import { print } from '../../print.ts';
import { type GivenOptions, isGiven, textOf } from '../../read-options.ts';

/** `belay thread rollback THREAD --to-turn N`: workspace and thread go back, and the thread says so. */
export const rollbackAction: Handler = async ({ io, options, words: [id = ''], version, signals }) => {
  const to = placeOf(options);
  // Half a rollback helps nobody: it ends first, and takes no longer than writing the files.
  signals.to(() => undefined);
  const done = await rollbackThread({
    ...{ stateDir: stateFolder(io.env), threadId: id, to, force: isGiven(options, 'force') },
    ...{ version, path: io.env['PATH'] ?? '' },
  });
  const { workspace, turn, tree, before, files, told } = done;
  const json = { thread_id: id, workspace, turn, tree, before, files };
  await print(
    io.stdout,
    isGiven(options, 'json')
      ? renderJson(json)
      : `${id} is at ${turn === 0 ? 'the start' : `turn ${turn}`}: ${files} ${files === 1 ? 'file' : 'files'} changed in ${workspace}\n`,
  );
  for (const sentence of told) await print(io.stderr, `belay: ${oneLine(sentence, MOST_CHARACTERS)}\n`);
  if (!isGiven(options, 'json')) await print(io.stderr, `belay: belay thread rollback ${id} --undo takes it back\n`);
  return 0;
};

function placeOf(options: GivenOptions): Place | 'undo' {
  const text = textOf(options, 'to-turn');
  const undo = isGiven(options, 'undo');
  if (undo && text !== null) throw new UsageError('--undo and --to-turn cannot be given together');
  if (undo) return 'undo';
  if (text === null) throw new UsageError('belay thread rollback needs --to-turn N (0: the start), or --undo');
  const place = parsePlace(text);
  if (place === null) throw new UsageError(`--to-turn: ${JSON.stringify(text)} is no turn, base or final`);
  return place;
}

const MOST_CHARACTERS = 10_000;
