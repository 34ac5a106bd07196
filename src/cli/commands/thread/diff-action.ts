import { UsageError } from '../../../errors.ts';
import { renderJson } from '../../../events/index.ts';
import { findPlace, type Place, parsePlace } from '../../../run/index.ts';
import { openThread, readTimeline, stateFolder } from '../../../thread/index.ts';
import { openSnapshots } from '../../../workspace/index.ts';
import type { Handler } from '../../command.ts';
import { print } from '../../print.ts';
import { isGiven } from '../../read-options.ts';
import { showPatch } from './show-patch.ts';

/** `belay thread diff THREAD [A..B]`: the patch between two places; all that the thread changed by default. */
export const diffAction: Handler = async ({ io, options, words: [id = '', range = 'base..final'] }) => {
  const places = parseRange(range);
  const thread = await openThread(stateFolder(io.env), id);
  const timeline = await readTimeline(thread);
  const snapshots = await openSnapshots({
    storeDir: thread.dir,
    workspace: thread.meta.workspace,
    path: io.env['PATH'] ?? '',
  });
  const known = { timeline, base: snapshots.base.tree };
  const [from, to] = [findPlace(places.from, known), findPlace(places.to, known)];
  const change = await snapshots.diff(from.tree, to.tree);
  if (isGiven(options, 'json')) {
    const { files, sha256 } = change;
    await print(io.stdout, renderJson({ from: from.tree, to: to.tree, files, patch_sha256: sha256 }));
    return 0;
  }
  await print(io.stdout, io.stdout.isTTY ? showPatch(change.patch) : change.patch);
  return 0;
};

function parseRange(range: string): { from: Place; to: Place } {
  const [from, to, more] = range.split('..').map(parsePlace);
  if (!from || !to || more !== undefined)
    throw new UsageError(
      `${JSON.stringify(range)} is no range of a thread: write A..B, each of them base, a turn or final`,
    );
  return { from, to };
}
