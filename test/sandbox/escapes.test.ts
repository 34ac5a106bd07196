import { spawnSync } from 'node:child_process';
import { chownSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ATTEMPTS, type Attempt } from './attempts.ts';
import { createFolders, type Folders, IS_LINUX, IS_ROOT, mountOf, OTHER_UID } from './fixture.ts';

const Answer = z.object({
  status: z.object({ tier: z.string(), uid: z.number().nullable() }),
  results: z.record(z.string(), z.object({ reason: z.string(), output: z.string() })),
});
type Answer = z.infer<typeof Answer>;

const HARNESS = path.join(import.meta.dirname, 'fixtures/harness.ts');
const SECRET = ['value', process.pid].join('-');
const READY: Record<string, string> = {
  '.git/config': 'x\n',
  '.git/hooks/sample': '',
  'belay.yml': 'version: 1\n',
  '.github/workflows/ci.yml': 'on: push\n',
  'a/b/kept.txt': 'kept\n',
  '.env': 'hidden\n',
  'private/key.txt': 'hidden\n',
};

function prepare(folders: Folders, uid: number | undefined): void {
  for (const [file, text] of Object.entries(READY)) folders.write(file, text);
  for (const file of ['mine', 'other']) folders.write(path.join(folders.outside, file), 'mine\n');
  for (const file of ['.npmrc', '.bashrc']) folders.write(path.join(folders.root, 'host-home', file), 'token\n');
  symlinkSync(folders.outside, path.join(folders.ws, 'planted'));
  if (uid !== undefined) chownSync(folders.root, uid, uid);
}

interface Try {
  uid: number | undefined;
  mode: 'workspace-write' | 'off';
  attempts: readonly Attempt[];
}

/** Starts the harness as `uid` (as ourselves without one) and lets it try everything. */
function tryAll(folders: Folders, { uid, mode, attempts }: Try): Answer {
  const at = (file: string): string => path.join(folders.ws, file);
  const orders = {
    mode,
    ws: folders.ws,
    home: folders.home,
    env: {
      OUT: folders.outside,
      HOST_HOME: path.join(folders.root, 'host-home'),
      SOCKET: path.join(folders.root, 'socket'),
      ABSTRACT: path.basename(folders.root),
    },
    mounts: [
      mountOf(folders.ws, 'write'),
      ...['.git', 'belay.yml', '.github', 'a/b/kept.txt'].map((file) => mountOf(at(file), 'read')),
      ...['.env', 'private'].map((file) => mountOf(at(file), 'hidden')),
    ],
    sockets: [path.join(folders.root, 'socket'), `\0${path.basename(folders.root)}`],
    scripts: Object.fromEntries(attempts.map(({ name, script }) => [name, `${script}\necho ran`])),
  };
  const program = [process.execPath, '--import', 'tsx', HARNESS];
  const become =
    uid === undefined ? [] : ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--'];
  const [file = '', ...args] = [...become, ...program];
  const { PATH } = process.env;
  const { stdout, stderr } = spawnSync(file, args, {
    input: JSON.stringify(orders),
    encoding: 'utf8',
    env: { PATH, HOME: folders.root, HARNESS_SECRET: SECRET },
  });
  try {
    return Answer.parse(JSON.parse(stdout));
  } catch (cause) {
    throw new Error(`the harness gave no answer: ${stderr}`, { cause });
  }
}

const canBecome = IS_ROOT && spawnSync('setpriv', ['--reuid', String(OTHER_UID), 'test', '-r', HARNESS]).status === 0;
const HARNESSES = [
  { who: 'ourselves', uid: undefined, works: true },
  { who: 'another user, who is not root', uid: OTHER_UID, works: canBecome },
];

for (const { who, uid, works } of HARNESSES) {
  const isRoot = uid === undefined && IS_ROOT;
  describe.skipIf(!IS_LINUX || !works)(
    `a fence that belay sets up as ${who}${works ? '' : ' (skipped: needs root, and a checkout that others may read)'}`,
    () => {
      let folders: Folders;
      beforeEach(() => {
        folders = createFolders(uid);
        prepare(folders, uid);
      });
      afterEach(() => folders.remove());

      it('stops every attempt, and leaves what it protects as it was', () => {
        const { status, results } = tryAll(folders, { uid, mode: 'workspace-write', attempts: ATTEMPTS });
        const seen = Object.entries(results).map(([name, { reason, output }]) => {
          const lines = output.split('\n');
          return { name, reason, ran: lines.includes('ran'), breached: lines.includes('breached') };
        });
        expect(seen).toEqual(ATTEMPTS.map(({ name }) => ({ name, reason: 'exited', ran: true, breached: false })));
        expect(status.tier).toBe('bubblewrap');
        expect(status.uid).not.toBe(0);
        if (!isRoot) expect(status.uid).toBe(uid ?? process.geteuid?.());
        expect(Object.fromEntries(Object.keys(READY).map((file) => [file, folders.read(file)]))).toEqual(READY);
        expect(folders.read(path.join(folders.outside, 'mine'))).toBe('mine\n');
      });

      it('is what stops them: without it, each works', () => {
        const attempts = ATTEMPTS.filter(({ control }) => control === 'anyone' || (control === 'root' && isRoot));
        const { results } = tryAll(folders, { uid, mode: 'off', attempts });
        const worked = Object.entries(results).filter(([, { output }]) => output.split('\n').includes('breached'));
        expect(worked.map(([name]) => name)).toEqual(attempts.map(({ name }) => name));
      });
    },
  );
}
