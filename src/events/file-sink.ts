import { dirname } from 'node:path';
import { UsageError } from '../errors.ts';
import type { EventSink } from './event.ts';
import { type LineFile, openLineFile } from './line-file.ts';

/** Every event as its line in a file, which is emptied first and synced at the end. Throws UsageError when it cannot be opened. */
export function createFileSink(path: string): Promise<EventSink & LineFile> {
  return openLineFile(path, {
    refuse(code, cause) {
      const what = code === 'ENOENT' ? `the folder ${dirname(path)} does not exist; create it first` : code;
      return new UsageError(`cannot write events to ${path}: ${what}`, { code: 'events_file', cause });
    },
  });
}
