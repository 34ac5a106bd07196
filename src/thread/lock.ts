import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Claim, dropClaim, findLivingClaims, makeClaim, markHeld, SILENT_MS } from './claim.ts';
import { identifySelf, type ProcessIdentity } from './process-identity.ts';

const HEARTBEAT_MS = SILENT_MS / 8;
/** Between two looks at others that are trying at the same moment. */
const LOOK_MS = 5;
/** A rival that is stopped in the middle of trying counts as the holder. */
const RIVAL_MS = 2_000;

export interface LockHolder {
  pid: number;
  host: string;
  /** What the holder said it is: a run, a thread. */
  owner: string;
  /** RFC 3339. */
  since: string;
}

export type LockOutcome = { kind: 'acquired'; release(): Promise<void> } | { kind: 'held'; by: LockHolder };

/**
 * Takes the lock at `path`, a folder that is there while somebody has or wants it; waits for nobody but rivals of the same moment.
 * Whose process is gone (dead, another boot, its id recycled; silent for two minutes where it is out of sight) holds nothing.
 *
 * Everybody puts up a claim first and looks at the others' second, and has the lock only when there is no other: of any two, the one
 * that looks last sees the other. Nobody ever removes a file that could have become another's.
 */
export async function acquireLock({ path, owner }: { path: string; owner: string }): Promise<LockOutcome> {
  const self = await identifySelf();
  const deadline = Date.now() + RIVAL_MS;
  for (;;) {
    const token = await makeClaim(path, { owner, since: new Date().toISOString(), ...self });
    const rival = await findRival({ path, token, self, deadline });
    if (rival === null) {
      await markHeld(path, token);
      return { kind: 'acquired', release: holdUntilReleased(path, token) };
    }
    await dropClaim(path, token);
    const holder = await waitForHolder({ path, rival, self, deadline });
    if (holder !== null) return { kind: 'held', by: describe(holder) };
  }
}

interface Contest {
  path: string;
  self: ProcessIdentity;
  deadline: number;
}

/** null when the lock is won. Of several that try at once the first by token stays, and waits for the others to step back. */
async function findRival({ path, token, self, deadline }: Contest & { token: string }): Promise<Claim | null> {
  for (;;) {
    const others = await findLivingClaims(path, token, self);
    const [first] = others;
    if (first === undefined) return null;
    const stronger = others.find((other) => other.isHeld || other.token < token);
    if (stronger !== undefined) return stronger;
    if (Date.now() > deadline) return first;
    await pause(LOOK_MS);
  }
}

/** Waits, without a claim, until a rival has won; null when it went away instead. */
async function waitForHolder({ path, rival, self, deadline }: Contest & { rival: Claim }): Promise<Claim | null> {
  if (rival.isHeld) return rival;
  for (;;) {
    const others = await findLivingClaims(path, null, self);
    const holder = others.find((other) => other.isHeld);
    if (holder !== undefined) return holder;
    if (!others.some((other) => other.token === rival.token)) return null;
    if (Date.now() > deadline) return rival;
    await pause(LOOK_MS);
  }
}

function describe({ text, changedMs }: Claim): LockHolder {
  if (text === null) return { pid: 0, host: 'unknown', owner: 'unknown', since: new Date(changedMs).toISOString() };
  return { pid: text.pid, host: text.host, owner: text.owner, since: text.since };
}

function holdUntilReleased(path: string, token: string): () => Promise<void> {
  const timer = setInterval(() => {
    const now = new Date();
    // Somebody removed the folder: the lock cannot be shown any longer, and the work itself is not in danger.
    utimes(join(path, token), now, now).catch(() => clearInterval(timer));
  }, HEARTBEAT_MS);
  timer.unref();
  let released: Promise<void> | null = null;
  return () => {
    clearInterval(timer);
    released ??= dropClaim(path, token);
    return released;
  };
}
