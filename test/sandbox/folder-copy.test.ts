import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFolderCopy } from '../../src/sandbox/folder-copy.ts';

it('a copy and its folder stay alike whoever writes, within a tick of the clock, with size and times put back', () => {
  const root = mkdtempSync(join(tmpdir(), 'belay-copy-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [folder, to] = [join(root, 'folder'), join(root, 'copy')];
  for (const path of [folder, to]) mkdirSync(path);
  const write = (at: string, text: string) => {
    writeFileSync(join(at, 'file'), text);
    utimesSync(join(at, 'file'), 1, 1);
  };
  write(folder, 'aaaa');
  const copy = createFolderCopy({ root: folder, mounts: [{ from: folder, to: folder, access: 'write' }] }, to, null);
  copy.refresh();
  for (let round = 1000; round < 1100; round += 1) {
    write(to, `c${round}`);
    copy.takeBack();
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe(`c${round}`);
    write(folder, `h${round}`);
    copy.refresh();
    expect(readFileSync(join(to, 'file'), 'utf8')).toBe(`h${round}`);
  }
});
