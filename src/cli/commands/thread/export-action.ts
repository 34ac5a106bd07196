import { resolve } from 'node:path';
import { exportThread } from '../../../run/index.ts';
import { stateFolder } from '../../../thread/index.ts';
import type { Handler } from '../../command.ts';
import { requireWritable } from '../../output-file.ts';
import { print } from '../../print.ts';

/** `belay thread export THREAD FILE`: one file with everything that another machine needs to go on. */
export const exportAction: Handler = async ({ io, words: [id = '', file = ''], version }) => {
  const path = resolve(io.cwd(), file);
  await requireWritable('belay thread export', path);
  await exportThread({ stateDir: stateFolder(io.env), threadId: id, file: path, version, path: io.env['PATH'] ?? '' });
  await print(io.stderr, `belay: ${path} holds the thread with all its outputs: treat it as you would a log\n`);
  return 0;
};
