import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/events/index.ts';
import { openJournal } from '../../src/thread/journal.ts';
import { openOutputStore } from '../../src/thread/output-store.ts';
import { tempFolder } from '../events/temp-folder.ts';

describe('the output store', () => {
  it('keeps the beginning when its room is used up, and counts and hashes the rest', async () => {
    const folder = tempFolder();
    const store = await openOutputStore(folder, { redactor: createRedactor([]), maxBytes: 1000 });
    const [one, two] = [await store.openOutput(), await store.openOutput()];
    await one.write(Buffer.alloc(400, 'a'));
    await two.write(Buffer.alloc(500, 'b'));
    const rest = Buffer.alloc(1_000_000, 'c');
    await one.write(rest);
    await two.write(Buffer.from('late'));
    const sha256 = createHash('sha256').update(Buffer.alloc(400, 'a')).update(rest).digest('hex');
    expect(await one.end()).toEqual({ id: one.id, totalBytes: 1_000_400, storedBytes: 500, sha256 });
    expect(await two.end()).toMatchObject({ totalBytes: 504, storedBytes: 500 });
    expect(await store.readOutput(one.id, { offset: 399, limit: 1000 })).toEqual({
      bytes: Buffer.from(`a${'c'.repeat(100)}`),
      totalBytes: 1_000_400,
      storedBytes: 500,
    });
    expect(statSync(join(folder, one.id)).size + statSync(join(folder, two.id)).size).toBe(1000);
    await store.close();
    const again = await openOutputStore(folder, { redactor: createRedactor([]), maxBytes: 1000 });
    const three = await again.openOutput();
    await three.write(Buffer.from('x'));
    expect(await three.end()).toMatchObject({ id: 'o3', totalBytes: 1, storedBytes: 0 });
    await again.close();
  });
});

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
