import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { ARTIFACTS_FOLDER, EVENTS_FILE, NOTES_FILE } from './disk-thread.ts';
import type { StoredThread } from './open-thread.ts';
import { orNull } from './or-null.ts';
import { scanNotes } from './read-notes.ts';
import { BLOBS_FOLDER, blobsOf, checkOutputs, OUTPUTS_FOLDER } from './stored-output.ts';
import { FILE_FORMAT, type FileEntry, isEntryName, SNAPSHOT_ENTRIES, writeThreadFile } from './thread-file.ts';
import { META_FILE } from './thread-meta.ts';

export interface PackedSnapshots {
  pack: string;
  start: string;
  attributes: string;
}

/** Writes a thread and its snapshots as one file. Nobody may be writing the thread. Throws UsageError where an output is not as it was kept. */
export async function packThread(
  { dir, id }: Pick<StoredThread, 'dir' | 'id'>,
  options: { file: string; version: string; snapshots: PackedSnapshots | null },
): Promise<void> {
  const { snapshots } = options;
  const { outputs } = await scanNotes(join(dir, NOTES_FILE));
  for await (const fault of checkOutputs(dir, outputs))
    throw new UsageError(`thread ${id} cannot be exported: ${fault}`, { code: 'thread_damaged' });
  // What a killed run gave no id yet is nobody's.
  const blobs = new Set([...blobsOf(outputs)].map((blob) => `${BLOBS_FOLDER}/${blob}`));
  const log = [META_FILE, EVENTS_FILE, NOTES_FILE].map((name) => ({ name, path: join(dir, name) }));
  const entries: FileEntry[] = [
    ...log,
    ...(await filesOf(dir, BLOBS_FOLDER)).filter(({ name }) => blobs.has(name)),
    ...(await filesOf(dir, OUTPUTS_FOLDER)),
    ...(await filesOf(dir, ARTIFACTS_FOLDER)),
    ...(snapshots === null
      ? []
      : [
          { name: SNAPSHOT_ENTRIES.start, path: snapshots.start },
          { name: SNAPSHOT_ENTRIES.attributes, path: snapshots.attributes },
          { name: SNAPSHOT_ENTRIES.pack, path: snapshots.pack },
        ]),
  ];
  const header = { belay_thread_file: FILE_FORMAT, belay_version: options.version, thread_id: id };
  await writeThreadFile(options.file, header, entries);
}

async function filesOf(dir: string, folder: string): Promise<FileEntry[]> {
  const entries = (await orNull(readdir(join(dir, folder), { withFileTypes: true }))) ?? [];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: `${folder}/${entry.name}`, path: join(dir, folder, entry.name) }))
    .filter((entry) => isEntryName(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
