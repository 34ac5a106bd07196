import { resolve } from 'node:path';
import { UsageError } from '../../../errors.ts';
import { oneLine } from '../../../events/index.ts';
import { parseSize } from '../../../policy/index.ts';
import { importThread } from '../../../run/index.ts';
import { stateFolder } from '../../../thread/index.ts';
import type { Handler } from '../../command.ts';
import { print } from '../../print.ts';
import { textOf } from '../../read-options.ts';
import { requireReadable } from '../audit.ts';

/** Outputs of a thread have 256 MiB at most; the rest is snapshots. */
const MOST_BYTES = 4 * 1024 ** 3;

/** `belay thread import FILE`: prints the id of the thread, which `belay resume` goes on with in this workspace. */
export const importAction: Handler = async ({ io, options, words: [file = ''] }) => {
  const size = textOf(options, 'max-size');
  const maxBytes = size === null ? MOST_BYTES : parseSize(size);
  if (maxBytes === null) throw new UsageError(`--max-size: ${JSON.stringify(size)} is not a size such as 2GiB`);
  const path = resolve(io.cwd(), file);
  await requireReadable(path);
  const workspace = resolve(io.cwd(), textOf(options, 'workspace') ?? '.');
  const meta = await importThread({
    ...{ stateDir: stateFolder(io.env), file: path, workspace, maxBytes },
    path: io.env['PATH'] ?? '',
  });
  await print(io.stdout, `${meta.thread_id}\n`);
  await print(io.stderr, `belay: belay resume ${meta.thread_id} goes on with it in ${meta.workspace}\n`);
  const given = (meta.asked_elsewhere ?? []).map(({ option, value }) => `--${option} ${oneLine(value)}`);
  if (given.length > 0)
    await print(
      io.stderr,
      `belay: its run was given ${given.join(' ')}, which an import does not take over: resume asks for your own\n`,
    );
  return 0;
};
