import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchDisk } from '../../src/sandbox/disk-watch.ts';

it('a folder that somebody takes away while it is watched counts for nothing', () => {
  const folders = ['gone', 'there'].map((name) => mkdtempSync(join(tmpdir(), `belay-${name}-`)));
  const watch = watchDisk(folders, 1024 ** 4);
  for (const folder of folders) {
    rmdirSync(folder);
    expect(watch.isExceeded([])).toBe(false);
  }
});
