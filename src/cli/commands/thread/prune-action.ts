import { UsageError } from '../../../errors.ts';
import { renderJson } from '../../../events/index.ts';
import { parseDuration, parseSize } from '../../../policy/index.ts';
import { pruneThreads, stateFolder } from '../../../thread/index.ts';
import type { Handler } from '../../command.ts';
import { print } from '../../print.ts';
import { type GivenOptions, isGiven, textOf } from '../../read-options.ts';

/** `belay thread prune`: removes threads by age and by size, oldest first; never one that a run is writing. */
export const pruneAction: Handler = async ({ io, options }) => {
  const ageMs = read(options, 'older-than', parseDuration, 'a duration such as 30d or 12h');
  const maxBytes = read(options, 'max-size', parseSize, 'a size such as 2GiB');
  if (ageMs === null && maxBytes === null)
    throw new UsageError('belay thread prune needs --older-than D, --max-size SIZE, or both');
  const dryRun = isGiven(options, 'dry-run');
  const createdBeforeMs = ageMs === null ? null : Date.now() - ageMs;
  const pruned = await pruneThreads(stateFolder(io.env), { createdBeforeMs, maxBytes, dryRun });
  if (isGiven(options, 'json')) {
    const threads = pruned.map(({ id, bytes }) => ({ thread_id: id, bytes }));
    await print(io.stdout, renderJson({ removed: !dryRun, threads }));
    return 0;
  }
  for (const { id, bytes } of pruned) await print(io.stdout, `${id}  ${bytes} bytes\n`);
  const total = pruned.reduce((sum, { bytes }) => sum + bytes, 0);
  const count = `${pruned.length} ${pruned.length === 1 ? 'thread' : 'threads'}, ${total} bytes`;
  await print(io.stderr, `belay: ${dryRun ? 'would remove' : 'removed'} ${count}\n`);
  return 0;
};

function read(
  options: GivenOptions,
  name: string,
  parse: (text: string) => number | null,
  form: string,
): number | null {
  const text = textOf(options, name);
  if (text === null) return null;
  const value = parse(text);
  if (value === null) throw new UsageError(`--${name}: ${JSON.stringify(text)} is not ${form}`);
  return value;
}
