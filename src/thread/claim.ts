import { randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hasCode } from '../errors.ts';
import { jsonOf } from '../events/index.ts';
import { findProcess, type ProcessIdentity } from './process-identity.ts';

/** After so long without a heartbeat, a holder out of sight counts as gone. */
export const SILENT_MS = 120_000;
/** A claim that took the lock has a second name, with this ending. */
const HELD = '.held';
/** Of a claim that is being written: none yet. */
const DRAFT = '.part';
const TOKEN = /^[0-9a-z]{8,}$/;

/** What one process says about itself in a lock folder. */
const ClaimText = z.object({
  owner: z.string(),
  since: z.string(),
  pid: z.int().min(1),
  host: z.string(),
  boot: z.string().nullable(),
  namespace: z.string().nullable(),
  started: z.string().nullable(),
});
export type ClaimText = z.infer<typeof ClaimText>;

export interface Claim {
  token: string;
  isHeld: boolean;
  /** null while it is being written. */
  text: ClaimText | null;
  changedMs: number;
}

/** Puts a claim of its own into the lock folder; returns its token, which no other claim ever has. */
export async function makeClaim(folder: string, text: ClaimText): Promise<string> {
  const token = randomBytes(12).toString('hex');
  for (;;) {
    await makeFolder(folder);
    try {
      // Whoever is killed in between must not leave a claim that says nothing of its process: it would hold until it has been silent for long.
      await writeFile(join(folder, token + DRAFT), JSON.stringify(text), { mode: 0o600, flag: 'wx' });
      await rename(join(folder, token + DRAFT), join(folder, token));
      return token;
    } catch (error) {
      // The holder before took its empty folder away in between.
      if (hasCode(error, 'ENOENT')) continue;
      await ifThere(unlink(join(folder, token + DRAFT)));
      await dropFolder(folder);
      throw error;
    }
  }
}

/** Not `recursive`, which fails when the folder goes away in the middle. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** The first name stays: a reader of the folder must not miss the claim in the middle of a rename. */
export async function markHeld(folder: string, token: string): Promise<void> {
  const path = join(folder, token);
  try {
    await link(path, path + HELD);
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error;
    await writeFile(path + HELD, '', { mode: 0o600 });
  }
}

export async function dropClaim(folder: string, token: string): Promise<void> {
  await ifThere(unlink(join(folder, token + HELD)));
  await ifThere(unlink(join(folder, token)));
  await dropFolder(folder);
}

/** Claims of others keep it. */
async function dropFolder(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

/** The claims of others that are alive. Those of processes that are gone are removed: a token is never used again, so no fresh claim can be hit. */
export async function findLivingClaims(folder: string, own: string | null, self: ProcessIdentity): Promise<Claim[]> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const living: Claim[] = [];
  for (const token of names.filter((name) => TOKEN.test(name) && name !== own)) {
    const path = join(folder, token);
    const found = await ifThere(Promise.all([readFile(path, 'utf8'), stat(path)]));
    if (found === null) continue;
    const [json, { mtimeMs: changedMs }] = found;
    const claim = {
      token,
      isHeld: names.includes(token + HELD),
      text: ClaimText.safeParse(jsonOf(json)).data ?? null,
      changedMs,
    };
    if (await isLiving(claim, self)) living.push(claim);
    else for (const name of [token + HELD, token]) await ifThere(unlink(join(folder, name)));
  }
  return living;
}

async function isLiving({ text, changedMs }: Claim, self: ProcessIdentity): Promise<boolean> {
  const found = text === null ? 'unknown' : await findProcess(text, self);
  return found === 'unknown' ? Date.now() - changedMs < SILENT_MS : found === 'alive';
}

async function ifThere<T>(step: Promise<T>): Promise<T | null> {
  try {
    return await step;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENAMETOOLONG')) return null;
    throw error;
  }
}
