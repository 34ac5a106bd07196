import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../src/thread/journal.ts';
import { tempFolder } from '../events/temp-folder.ts';

describe('the journal', () => {
  it('writes what is appended, in order, before it says so', async () => {
    const path = join(tempFolder(), 'log');
    const journal = await openJournal(path, { durable: true });
    const lines = Array.from({ length: 500 }, (_, i) => `line ${i}\n`);
    await Promise.all(lines.slice(0, 250).map((line) => journal.append(line)));
    expect(readFileSync(path, 'utf8')).toBe(lines.slice(0, 250).join(''));
    for (const line of lines.slice(250)) {
      const appended = journal.append(line);
      if (line.endsWith('0\n')) await journal.flush();
      await appended;
    }
    await journal.close();
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
  });

  it.skipIf(!existsSync('/dev/full'))('fails for good once a write has failed', async () => {
    const journal = await openJournal('/dev/full', { durable: true });
    for (let i = 0; i < 3; i++) await expect(journal.append('x\n')).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(journal.flush()).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(journal.close()).rejects.toMatchObject({ code: 'ENOSPC' });
  });
});
