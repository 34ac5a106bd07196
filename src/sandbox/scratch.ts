import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { codeOf, hasCode, UsageError } from '../errors.ts';
import { INNER_HOME } from './bubblewrap-args.ts';

/** Files of one sandbox, out of sight of commands but for those that the fence binds. */
export interface Scratch {
  dir: string;
  /** Empty, mode 000. */
  emptyFile: string;
  file(name: string, content: string | Buffer): string;
  folder(name: string): string;
  remove(): void;
}

/** Throws UsageError where TMPDIR is no folder that takes one. */
export function createScratch(): Scratch {
  const dir = makeFolder();
  // Another user runs bubblewrap where belay is root: it may pass, not list.
  chmodSync(dir, 0o711);
  const file = (name: string, content: string | Buffer): string => {
    const at = path.join(dir, name);
    writeFileSync(at, content, { mode: 0o644 });
    return at;
  };
  const emptyFile = file('empty', '');
  chmodSync(emptyFile, 0o000);
  const folder = (name: string): string => {
    const at = path.join(dir, name);
    mkdirSync(at);
    return at;
  };
  return { dir, emptyFile, file, folder, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Account files that name the command's user, where the machine's own do not: many programs fail for a uid without a name. */
export function accountOverlays(scratch: Scratch, { uid, gid }: { uid: number; gid: number }): Record<string, string> {
  const overlays: Record<string, string> = {};
  const passwd = readIfThere('/etc/passwd');
  const group = readIfThere('/etc/group');
  const names = (text: string, id: number): boolean =>
    text.split('\n').some((line) => line.split(':')[2] === String(id));
  if (passwd !== null && !names(passwd, uid)) {
    overlays['/etc/passwd'] = scratch.file(
      'passwd',
      `${withNewline(passwd)}sandbox:x:${uid}:${gid}::${INNER_HOME}:/bin/bash\n`,
    );
  }
  if (group !== null && !names(group, gid))
    overlays['/etc/group'] = scratch.file('group', `${withNewline(group)}sandbox:x:${gid}:\n`);
  return overlays;
}

function readIfThere(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function makeFolder(): string {
  try {
    return realpathSync(mkdtempSync(path.join(os.tmpdir(), 'belay-sandbox-')));
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG')) throw error;
    throw new UsageError(
      `cannot create a folder in ${os.tmpdir()} (${codeOf(error)}); set TMPDIR to a folder that can be written`,
      { code: 'temporary_folder', cause: error },
    );
  }
}
