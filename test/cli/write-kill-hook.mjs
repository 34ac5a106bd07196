// Preloaded into the CLI of a test (`node --import`): counts what the process does to files. KILL_AT: it is killed with SIGKILL at this point:
// before the act, or in the middle of it, with half a text written or half a folder removed. POINT_LOG gets a line a point.
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const { KILL_AT, POINT_LOG } = process.env;
const killAt = Number(KILL_AT ?? 0);
let points = 0;
/** Node's own functions call each other by these names, and so do ours. */
let isOurs = false;
// The real ones: what is taken from here is not counted.
const { appendFileSync, lstatSync, readFileSync, readdirSync, rmSync, writeFileSync } = fs;
const { appendFile, writeFile } = fsp;
const isFolder = (path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function point(name, tear = () => undefined) {
  if (isOurs) return;
  isOurs = true;
  points += 1;
  if (POINT_LOG !== undefined) appendFileSync(POINT_LOG, `${name}\n`);
  if (points === killAt) {
    tear();
    process.kill(process.pid, 'SIGKILL');
  }
  isOurs = false;
}

for (const name of ['rename', 'unlink', 'mkdir', 'rmdir', 'link', 'symlink', 'cp', 'chmod', 'truncate']) {
  const real = fsp[name];
  fsp[name] = (...args) => {
    point(`${name} ${args[0]}`);
    return real(...args);
  };
}
const { copyFile, rm } = fsp;
fsp.copyFile = (from, to, ...rest) => {
  point(`copyFile ${to}`);
  point(`half of copyFile ${to}`, () => {
    const bytes = readFileSync(from);
    writeFileSync(to, bytes.subarray(0, bytes.length / 2));
  });
  return copyFile(from, to, ...rest);
};
fsp.rm = (path, ...rest) => {
  point(`rm ${path}`);
  if (isFolder(path)) {
    // In either order: nobody says which of its files goes first.
    const names = readdirSync(path).sort();
    const half = Math.ceil(names.length / 2);
    const remove = (some) => {
      for (const one of some) rmSync(join(path, one), { recursive: true, force: true });
    };
    point(`half of rm ${path}`, () => remove(names.slice(0, half)));
    point(`other half of rm ${path}`, () => remove(names.slice(-half)));
  }
  return rm(path, ...rest);
};
fsp.writeFile = (path, data, options) => {
  point(`writeFile ${path}`);
  if (typeof path === 'string' && typeof data === 'string')
    point(`half of writeFile ${path}`, () => writeFileSync(path, data.slice(0, data.length / 2), options));
  return writeFile(path, data, options);
};
fsp.appendFile = (...args) => {
  point(`appendFile ${args[0]}`);
  return appendFile(...args);
};
const handle = await fsp.open(process.execPath);
const FileHandle = Object.getPrototypeOf(handle);
await handle.close();
for (const name of ['appendFile', 'writeFile', 'write', 'sync', 'truncate']) {
  const real = FileHandle[name];
  FileHandle[name] = function (...args) {
    point(`${name} on a handle`);
    return real.apply(this, args);
  };
}
for (const name of ['write', 'writev', 'fsync', 'writeSync', 'fsyncSync', 'writeFileSync', 'renameSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (args[0] !== 1 && args[0] !== 2) point(name);
    return real(...args);
  };
}
syncBuiltinESMExports();
