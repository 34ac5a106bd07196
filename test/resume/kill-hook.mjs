// Preloaded into the CLI of a test (`node --import`): counts what the process appends, writes and starts. Outside the product, so that no way of
// running belay can be made to kill it. KILL_AT: the process is killed with SIGKILL at this point. KEEP_STATES: at each point all that a killed
// process would leave (the folders of KEEP_FROM) is copied to KEEP_STATES/N. POINT_LOG gets a line a point.
import child_process, { execFileSync } from 'node:child_process';
import fs, { appendFileSync, mkdirSync, readlinkSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';

const { KILL_AT, POINT_LOG, KEEP_STATES, KEEP_FROM = '' } = process.env;
const kinds = new Set((process.env.POINT_KINDS ?? '').split(',').filter((kind) => kind !== ''));
const killAt = Number(KILL_AT ?? 0);
let points = 0;
let isTearing = false;

/** `torn`: a file and the half of a line that a process killed in the middle of the write leaves in it. */
function point(name, torn = null) {
  if (kinds.size > 0 && !kinds.has(name)) return;
  points += 1;
  if (POINT_LOG !== undefined) appendFileSync(POINT_LOG, `${name}\n`);
  if (KEEP_STATES !== undefined) keepState(join(KEEP_STATES, String(points)), torn);
  if (points !== killAt) return;
  isTearing = true;
  if (torn !== null) appendFileSync(torn.path, torn.half);
  process.kill(process.pid, 'SIGKILL');
}

function keepState(to, torn) {
  mkdirSync(to);
  for (const name of ['ws', 'state']) {
    try {
      execFileSync('cp', ['-a', join(KEEP_FROM, name), to], { stdio: 'ignore' });
    } catch {
      // A command of the agent was at work in it: what it took away meanwhile is not there.
    }
  }
  if (torn !== null) appendFileSync(join(to, relative(KEEP_FROM, torn.path)), torn.half);
}

const isLog = (path) => ['events.jsonl', 'notes.jsonl'].includes(basename(path));
const logOf = (fd) => {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    return isLog(path) ? path : null;
  } catch {
    return null;
  }
};
const halfOf = (data) => Buffer.from(data).subarray(0, Math.ceil(data.length / 2));
const inOwnRun = KEEP_FROM === '' ? '' : join(KEEP_FROM, 'state/');
function appending(fd, data) {
  const found = logOf(fd);
  // What is written here goes to a copy, or is the half of a line that counts already.
  const path = found?.startsWith(inOwnRun) && !isTearing ? found : null;
  // A sync is no point of its own: what SIGKILL leaves is the same before and after it.
  if (path !== null) point('append', { path, half: halfOf(data) });
}

const probe = join(tmpdir(), `kill-hook-${process.pid}`);
const handle = await fsp.open(probe, 'w');
const FileHandle = Object.getPrototypeOf(handle);
await handle.close();
await fsp.rm(probe);
const { appendFile } = FileHandle;
FileHandle.appendFile = function (data, ...rest) {
  appending(this.fd, data);
  return appendFile.call(this, data, ...rest);
};
const { writeSync } = fs;
fs.writeSync = (fd, data, ...rest) => {
  appending(fd, data);
  return writeSync(fd, data, ...rest);
};

const isWork = (path) => KEEP_FROM !== '' && String(path).startsWith(join(KEEP_FROM, 'ws/'));
const { rename, unlink } = fsp;
fsp.rename = async (from, to) => {
  // Where the edit tools put a new content in place, and where the workspace is put back.
  const isEdit = basename(String(from)).startsWith('.belay-') || isWork(to);
  if (isEdit) point('before write');
  await rename(from, to);
  if (isEdit) point('after write');
};
fsp.unlink = async (path) => {
  if (isWork(path)) point('before write');
  await unlink(path);
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
