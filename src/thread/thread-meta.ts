import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const META_FILE = 'meta.json';

/** What is known of a thread before any event. */
export const ThreadMeta = z.object({
  /** Of the folder's layout. */
  format: z.literal(1),
  thread_id: z.string(),
  /** Real path. */
  workspace: z.string(),
  /** Redacted. */
  goal: z.string(),
  /** RFC 3339. */
  created: z.string(),
});
export type ThreadMeta = z.infer<typeof ThreadMeta>;

export async function writeMeta(dir: string, meta: ThreadMeta): Promise<void> {
  await writeFile(join(dir, META_FILE), `${JSON.stringify(meta, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
}

/** `missing`: no thread there; `unknown`: not of a format that this version reads. */
export async function readMeta(dir: string): Promise<ThreadMeta | 'missing' | 'unknown'> {
  try {
    return ThreadMeta.safeParse(JSON.parse(await readFile(join(dir, META_FILE), 'utf8'))).data ?? 'unknown';
  } catch (error) {
    if (error instanceof SyntaxError) return 'unknown';
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return 'missing';
    throw error;
  }
}
