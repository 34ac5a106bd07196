import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import { findSystemProgram } from './find-system-program.ts';
import { chooseStage } from './stage-launcher.ts';

/**
 * Whom commands run as. `harness`: as belay itself, who is not root. Root's commands run as the workspace's owner or a spare uid
 * (`staged`, else `setpriv`); `root` is what is left when the machine allows neither.
 */
export type CommandUser =
  | { kind: 'harness'; uid: number; gid: number }
  | StagedUser
  | { kind: 'setpriv'; uid: number; gid: number; program: string }
  | { kind: 'root'; uid: 0; gid: 0 };

/** Highest uid of the range that distributions leave to no one, below `nobody`. */
const SPARE_UID = 65_533;
const LOWEST_SPARE_UID = 60_000;

/** `adopts`: belay's own folders lie where ids cannot be mapped, and are given to the user instead. */
export interface StagedUser extends Identity {
  kind: 'staged';
  perl: string;
  /** What enters a namespace that is staged already; null: each command stages its own. */
  nsenter: string | null;
  stage: string;
  /** Descriptor of the user namespace that root's files are mapped by. */
  map: number | null;
  adopts: boolean;
  release(): void;
}

export interface Identity {
  uid: number;
  gid: number;
}

/** Every way in order of preference; each is made only when the one before did not work. */
export async function* commandUsers(workspace: string, bwrap: string): AsyncGenerator<CommandUser> {
  const uid = process.geteuid?.() ?? 0;
  if (uid !== 0) {
    yield { kind: 'harness', uid, gid: process.getegid?.() ?? uid };
    return;
  }
  const owner = statSync(workspace);
  const identity = standInFor(owner);
  const perl = findSystemProgram('perl');
  const nsenter = findSystemProgram('nsenter');
  const stage = chooseStage([bwrap]);
  if (identity !== null && perl !== null && stage !== null) {
    for (const adopts of [false, true]) {
      // Each is released by whoever took it.
      const map = await openIdMap(perl, identity);
      const staged = { kind: 'staged', ...identity, perl, nsenter, stage, map, adopts } as const;
      if (map !== null) yield { ...staged, release: () => closeSync(map) };
      else if (owner.uid !== 0 && adopts) yield { ...staged, release: () => undefined };
    }
  }
  const setpriv = findSystemProgram('setpriv');
  if (identity !== null && setpriv !== null && owner.uid !== 0)
    yield { kind: 'setpriv', ...identity, program: setpriv };
  yield { kind: 'root', uid: 0, gid: 0 };
}

/** Whom root's commands run as in a workspace: its owner, or a spare id where that is root; null where there is none. */
export function standInFor(owner: Identity): Identity | null {
  return owner.uid === 0 ? spareIdentity() : { uid: owner.uid, gid: owner.gid === 0 ? owner.uid : owner.gid };
}

/** Ids that own nothing: neither an account nor a group of this machine. */
function spareIdentity(): Identity | null {
  const taken = new Set([...idsIn('/etc/passwd'), ...idsIn('/etc/group')]);
  for (let id = SPARE_UID; id >= LOWEST_SPARE_UID; id--) if (!taken.has(id)) return { uid: id, gid: id };
  return null;
}

function idsIn(file: string): number[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => Number(line.split(':')[2] ?? Number.NaN));
}

/**
 * A user namespace that maps root's files to the command user and every other id to itself, kept alive by its descriptor;
 * null where the machine does not let root make one.
 */
async function openIdMap(perl: string, { uid, gid }: Identity): Promise<number | null> {
  const unshare = process.arch === 'x64' ? 272 : 97;
  const script = `syscall(${unshare}, 0x10000000) == 0 or exit 1; syswrite STDOUT, "x"; sysread STDIN, my $b, 1`;
  const child = spawn(perl, ['-e', script], { env: {}, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  if (child.pid === undefined) {
    child.once('error', () => undefined);
    return null;
  }
  const ended = once(child, 'exit');
  try {
    const first = await Promise.race([
      once(child.stdout, 'data').then(() => 'made' as const),
      ended.then(() => 'ended' as const),
    ]);
    if (first === 'ended') return null;
    for (const [kind, id] of [
      ['uid', uid],
      ['gid', gid],
    ] as const)
      writeMap(`/proc/${child.pid}/${kind}_map`, id);
    return openSync(`/proc/${child.pid}/ns/user`, 'r');
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

const LAST_ID = 65_535;

function writeMap(file: string, id: number): void {
  const others =
    id > LAST_ID
      ? [`1 1 ${LAST_ID}`]
      : [`1 1 ${id - 1}`, ...(id < LAST_ID ? [`${id + 1} ${id + 1} ${LAST_ID - id}`] : [])];
  try {
    writeFileSync(file, [`0 ${id} 1`, ...others].join('\n'));
  } catch (error) {
    // A container's own user namespace may hold fewer ids: root's alone will do.
    if (codeOf(error) === null) throw error;
    writeFileSync(file, `0 ${id} 1`);
  }
}
