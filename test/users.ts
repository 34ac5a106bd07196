import { spawnSync } from 'node:child_process';
import { IS_ROOT, OTHER_UID } from './sandbox/fixture.ts';
import { CLI } from './scenario.ts';

const canBecome =
  IS_ROOT && spawnSync(process.execPath, [CLI, '--version'], { cwd: '/', uid: OTHER_UID, gid: OTHER_UID }).status === 0;

/** Who runs belay: `uid` for the processes of a test and the owner of its files, undefined for whoever runs the tests. */
export const USERS = [
  { who: 'whoever runs the tests', uid: undefined, works: true },
  {
    who: `an unprivileged user${canBecome ? '' : ' (skipped: needs root, and a build that others may read)'}`,
    uid: OTHER_UID,
    works: canBecome,
  },
] as const;
