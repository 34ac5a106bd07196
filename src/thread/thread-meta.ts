import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hasCode } from '../errors.ts';
import { jsonOf, oneLine } from '../events/index.ts';
import { syncPath } from './sync-path.ts';

export const META_FILE = 'meta.json';
/** Of a thread's folder; a change that this version could not read gets the next number. */
export const FORMAT = 2;
/** The first that this version reads: outputs under their ids, in a folder of their own. */
const FIRST_FORMAT = 1;

/** Options of a run that decide what it trusts. */
export const TRUST_OPTIONS = ['policy', 'policy-floor', 'trust-ref'] as const;

/** What is known of a thread before any event. */
export const ThreadMeta = z.object({
  /** Of the folder's layout. */
  format: z.int().min(FIRST_FORMAT).max(FORMAT),
  thread_id: z.string(),
  /** Real path. */
  workspace: z.string(),
  /** Redacted. */
  goal: z.string(),
  /** RFC 3339. */
  created: z.string(),
  /** The belay that gave the thread its format; threads of the first version may lack it. */
  belay_version: z.string().exactOptional(),
  /** Where a fork branched off. */
  forked_from: z.object({ thread_id: z.string(), turn: z.int().min(0) }).exactOptional(),
  /** How the run was asked for, where a resumed one does not say otherwise: absolute paths of files, a commit. */
  asked: z
    .object({
      policy: z.string().nullable(),
      policy_floor: z.string().nullable().exactOptional(),
      cassette: z.string().nullable(),
      trust_ref: z.string().nullable(),
    })
    .exactOptional(),
  /** Of a thread from another machine: how many of its notes came with it. */
  imported_notes: z.int().min(0).exactOptional(),
  /** Of a thread from another machine: options that decided what is trusted there. Whoever resumes has to say them anew. */
  asked_elsewhere: z.array(z.object({ option: z.enum(TRUST_OPTIONS), value: z.string() })).exactOptional(),
});
export type ThreadMeta = z.infer<typeof ThreadMeta>;

/** In one step: what has a half of it would be a thread that does not open. It is on disk at the end, unless `isSyncedLater`. */
export async function writeMeta(
  dir: string,
  meta: ThreadMeta,
  { isSyncedLater = false }: { isSyncedLater?: boolean } = {},
): Promise<void> {
  const draft = join(dir, `${META_FILE}.part`);
  await writeFile(draft, `${JSON.stringify(meta, null, 2)}\n`, { mode: 0o600, flush: !isSyncedLater });
  await rename(draft, join(dir, META_FILE));
  if (!isSyncedLater) await syncPath(dir);
}

/** What any format says of itself. */
const AnyMeta = z.object({ format: z.int().min(1), belay_version: z.string().max(100).exactOptional() });

/** `missing`: no thread there; else, for what this version does not read, words for its user. */
export async function readMeta(dir: string): Promise<ThreadMeta | 'missing' | { unreadable: string }> {
  try {
    return parseMeta(await readFile(join(dir, META_FILE), 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'missing';
    throw error;
  }
}

export function parseMeta(text: string): ThreadMeta | { unreadable: string } {
  const value = jsonOf(text);
  if (value === undefined) return { unreadable: `its ${META_FILE} is not JSON` };
  return ThreadMeta.safeParse(value).data ?? { unreadable: describe(value) };
}

function describe(value: unknown): string {
  const known = AnyMeta.safeParse(value).data;
  if (known === undefined || known.format <= FORMAT) return `its ${META_FILE} is damaged`;
  const writer = known.belay_version === undefined ? 'a later belay' : `belay ${oneLine(known.belay_version)}`;
  return `it has format ${known.format}, written by ${writer}; open it with that version or a later one (this one reads formats ${FIRST_FORMAT} to ${FORMAT})`;
}
