import { randomBytes } from 'node:crypto';
import { link, readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { findProcess, identifySelf, type ProcessIdentity } from './process-identity.ts';

/** How often a holder shows that it is alive, for those that cannot look at its process. */
const HEARTBEAT_MS = 15_000;
/** Eight beats missed. */
const SILENT_MS = 120_000;
/** What link() fails with where there are no hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export interface LockHolder {
  pid: number;
  host: string;
  /** What the holder said it is: a run, a thread. */
  owner: string;
  /** RFC 3339. */
  since: string;
}

export type LockOutcome = { kind: 'acquired'; release(): Promise<void> } | { kind: 'held'; by: LockHolder };

const LockFile = z.object({
  token: z.string(),
  owner: z.string(),
  since: z.string(),
  pid: z.int().min(1),
  host: z.string(),
  boot: z.string().nullable(),
  namespace: z.string().nullable(),
  started: z.string().nullable(),
});
type LockFile = z.infer<typeof LockFile>;

/**
 * Takes the lock file at `path` (its folder exists), never waiting. A lock whose holder is gone (dead, recycled process id, another boot;
 * silent for two minutes where its process is out of sight) is taken over; of several that try, one gets it.
 */
export async function acquireLock({ path, owner }: { path: string; owner: string }): Promise<LockOutcome> {
  const self = await identifySelf();
  const mine: LockFile = { token: randomBytes(12).toString('hex'), owner, since: new Date().toISOString(), ...self };
  for (;;) {
    if (await claim(path, mine)) return { kind: 'acquired', release: holdUntilReleased(path, mine.token) };
    const found = await readLock(path);
    if (found === 'none') continue;
    if (await isHeld(found, self)) return { kind: 'held', by: describe(found) };
    await removeStale({ path, mine, self });
  }
}

interface FoundLock {
  /** null: not a lock file of this format. */
  lock: LockFile | null;
  changedMs: number;
}

/** The file appears with its text in it: no reader ever sees half a lock. */
async function claim(path: string, mine: LockFile): Promise<boolean> {
  const draft = `${path}.${mine.token}`;
  await writeFile(draft, JSON.stringify(mine), { mode: 0o600, flag: 'wx' });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!NO_LINKS.some((code) => hasCode(error, code))) throw error;
    return await claimWithoutLink(path, mine);
  } finally {
    await unlink(draft);
  }
}

/** For file systems without hard links: for a moment the file is empty, which readers take for a lock of unknown holder. */
async function claimWithoutLink(path: string, mine: LockFile): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(mine), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function readLock(path: string): Promise<FoundLock | 'none'> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    return { lock: parseLock(text), changedMs: mtimeMs };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'none';
    throw error;
  }
}

function parseLock(text: string): LockFile | null {
  try {
    return LockFile.safeParse(JSON.parse(text)).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function isHeld({ lock, changedMs }: FoundLock, self: ProcessIdentity): Promise<boolean> {
  const found = lock === null ? 'unknown' : await findProcess(lock, self);
  return found === 'unknown' ? Date.now() - changedMs < SILENT_MS : found === 'alive';
}

function describe({ lock, changedMs }: FoundLock): LockHolder {
  if (lock === null) return { pid: 0, host: 'unknown', owner: 'unknown', since: new Date(changedMs).toISOString() };
  return { pid: lock.pid, host: lock.host, owner: lock.owner, since: lock.since };
}

/**
 * Only the holder of the guard removes a lock that is not its own, after looking again: otherwise the slower of two that saw the same
 * stale lock would remove the fresh one of the faster.
 */
async function removeStale({
  path,
  mine,
  self,
}: {
  path: string;
  mine: LockFile;
  self: ProcessIdentity;
}): Promise<void> {
  const guard = `${path}.guard`;
  if (!(await claim(guard, mine))) {
    const other = await readLock(guard);
    // A guard is held for a moment only; one that was left behind by a crash goes.
    if (other !== 'none' && !(await isHeld(other, self))) await unlinkIfThere(guard);
    return;
  }
  try {
    const found = await readLock(path);
    if (found !== 'none' && !(await isHeld(found, self))) await unlinkIfThere(path);
  } finally {
    await unlinkIfThere(guard);
  }
}

function holdUntilReleased(path: string, token: string): () => Promise<void> {
  const timer = setInterval(() => {
    const now = new Date();
    // Someone removed the file or its folder: the lock cannot be shown any longer, and the work itself is not in danger.
    utimes(path, now, now).catch(() => clearInterval(timer));
  }, HEARTBEAT_MS);
  timer.unref();
  let released: Promise<void> | null = null;
  const release = async () => {
    clearInterval(timer);
    const found = await readLock(path);
    if (found !== 'none' && found.lock?.token === token) await unlinkIfThere(path);
  };
  return () => {
    released ??= release();
    return released;
  };
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
