// Preloaded into the CLI of a test (`node --import`): counts what the process appends, writes and starts, and kills it with SIGKILL at the
// KILL_AT-th of these points. Outside the product, so that no way of running belay can be made to kill it. KILL_LOG gets a line a point.
import child_process from 'node:child_process';
import { appendFileSync, writeSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const killAt = Number(process.env.KILL_AT ?? 0);
const log = process.env.KILL_LOG;
let points = 0;

/** Whether this is the point; `half` may do a part of the work first. */
function point(name, half = () => undefined) {
  points += 1;
  if (log !== undefined) appendFileSync(log, `${name}\n`);
  if (points !== killAt) return;
  half();
  process.kill(process.pid, 'SIGKILL');
}

const probe = join(tmpdir(), `kill-hook-${process.pid}`);
const handle = await fsp.open(probe, 'w');
const FileHandle = Object.getPrototypeOf(handle);
await handle.close();
await fsp.rm(probe);

const { appendFile } = FileHandle;
FileHandle.appendFile = function (data, ...rest) {
  // A killed process leaves half a line. (A sync is no point of its own: what SIGKILL leaves is the same before and after it.)
  point('append', () => writeSync(this.fd, Buffer.from(data).subarray(0, Math.ceil(data.length / 2))));
  return appendFile.call(this, data, ...rest);
};

const { rename } = fsp;
fsp.rename = async (from, to) => {
  // Where the edit tools put a new content in place.
  const isEdit = basename(String(from)).startsWith('.belay-');
  if (isEdit) point('before write');
  await rename(from, to);
  if (isEdit) point('after write');
};

const { spawn } = child_process;
child_process.spawn = (file, args, ...rest) => {
  // As root, other programs stand before the fence.
  const isCommand =
    Array.isArray(args) && args.length > 1 && [file, ...args].some((word) => basename(String(word)) === 'bwrap');
  if (isCommand) point('before command');
  const child = spawn(file, args, ...rest);
  if (isCommand) {
    point('in command');
    child.once('exit', () => point('after command'));
  }
  return child;
};
syncBuiltinESMExports();
