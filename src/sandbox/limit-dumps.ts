import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import { findSystemProgram } from './find-system-program.ts';

/**
 * A core dump of belay would hold the model's key. The limit that means none is 1 byte, not 0: by fs/coredump.c the kernel starts the
 * program that `core_pattern` names (which reads the environment of what has ended) whatever the limit is, but not at 1; and a file needs a page at least.
 */
const NO_CORES = 1;

const PRLIMIT = process.arch === 'arm64' ? 261 : 302;

/**
 * Perl that bounds its own core dumps and those of the belay that started it. Where it may not, `coresOf` tells. Once that belay is gone,
 * the parent is somebody else's process (that of the whole container, at worst), and left alone.
 */
export const LIMIT_CORES = `for my $who (0, grep { $_ == ${process.pid} } getppid) { my $none = pack("QQ", ${NO_CORES}, ${NO_CORES}); syscall(${PRLIMIT}, $who, 4, $none, 0) }`;

const BY_PERL = `${LIMIT_CORES}; exec { $ARGV[0] } @ARGV or exit 111`;
const BY_PRLIMIT = `for BELAY_PID in $$ $PPID; do [ $BELAY_PID = $$ ] || [ $BELAY_PID = ${process.pid} ] && prlimit --pid $BELAY_PID --core=${NO_CORES}:${NO_CORES}; done 2> /dev/null; exec "$@"`;
const BY_SHELL = 'ulimit -c 0; exec "$@"';

/** Program and arguments to put before a command, so that neither it nor whoever starts it writes a core dump: with no other process than its own. */
export function limitCoresOf(): string[] {
  const perl = findSystemProgram('perl');
  if (perl !== null) return [perl, '-e', BY_PERL, '--'];
  return ['/bin/bash', '-p', '-c', findSystemProgram('prlimit') === null ? BY_SHELL : BY_PRLIMIT, 'bash'];
}

/** For where no command is started that does it: at once, by a process that nobody waits for. */
export function limitOwnCores(): void {
  if (process.platform !== 'linux' || !existsSync('/bin/bash') || isLimited()) return;
  const [file = '', ...args] = [...limitCoresOf(), '/bin/true'];
  // That it cannot be started leaves what `belay doctor` tells.
  spawn(file, args, { env: { PATH: '/usr/bin:/bin' }, cwd: '/', stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}

/** Whether this process writes no core dump, however it ends. A limit once lowered stays so. */
export function isLimited(): boolean {
  const most = ownCoreBytes();
  return most !== null && most <= NO_CORES;
}

/** What becomes of a core dump of this process. Its memory is in none (see `bin.ts`). */
export function describeCores(): { works: boolean; says: string } {
  const most = ownCoreBytes();
  const pattern = readIfThere('/proc/sys/kernel/core_pattern')?.trim() ?? '';
  // Only the way by a program looks for the limit of 1; the way by a socket (Linux 6.16) looks for none.
  if (pattern.startsWith('@') || (pattern.startsWith('|') && most !== NO_CORES))
    return { works: false, says: 'a program of this machine takes those of belay, and can read its environment' };
  return most !== null && most <= NO_CORES
    ? { works: true, says: 'belay and its commands write none' }
    : { works: false, says: 'belay cannot switch its own off; its memory is left out of them' };
}

/** The hard limit; null where it cannot be read. */
function ownCoreBytes(): number | null {
  const line = /^Max core file size\s+\S+\s+(\S+)/m.exec(readIfThere('/proc/self/limits') ?? '');
  if (line === null) return null;
  return line[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line[1]);
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
