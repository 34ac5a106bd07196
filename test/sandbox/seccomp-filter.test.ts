import { describe, expect, it } from 'vitest';
import { createSeccompFilter, isFilterArch } from '../../src/sandbox/seccomp-filter.ts';

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 };
const ANSWERS: Record<number, string> = {
  ...{ 2147418112: 'allow', 2147483648: 'kill', 327680: 'no effect', 327681: 'EPERM', 327718: 'ENOSYS' },
};

interface Call {
  number: number;
  audit: number;
  args?: readonly bigint[];
}

/** The kernel's interpreter for the few instructions that the filter uses; anything else is an error. */
function judge(program: Buffer, { number, audit, args = [] }: Call): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return ANSWERS[value] ?? `answer ${value}`;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else {
      const tests: Record<number, boolean> = { 21: loaded === value, 53: loaded >= value, 69: (loaded & value) !== 0 };
      const test = tests[code];
      if (test === undefined) throw new Error(`instruction ${code}`);
      at += program[at * 8 + (test ? 2 : 3)] ?? 0;
    }
  }
  throw new Error('the program ran off its end');
}

/** Numbers of `unistd_64.h` and `asm-generic/unistd.h`, kept apart from the filter's own table. */
const CALLS = {
  x64: {
    refused: {
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      unshare: 272,
      setns: 308,
      ptrace: 101,
      process_vm_readv: 310,
      bpf: 321,
      keyctl: 250,
      open_by_handle_at: 304,
      finit_module: 313,
      kexec_load: 246,
      mount_setattr: 442,
      pidfd_getfd: 438,
      userfaultfd: 323,
      perf_event_open: 298,
    },
    allowed: {
      read: 0,
      write: 1,
      openat: 257,
      execve: 59,
      fork: 57,
      wait4: 61,
      futex: 202,
      getrandom: 318,
      memfd_create: 319,
      statx: 332,
      rseq: 334,
      landlock_create_ruleset: 444,
      prctl: 157,
      seccomp: 317,
    },
    clone: 56,
    ioctl: 16,
    socket: 41,
  },
  arm64: {
    refused: {
      mount: 40,
      umount2: 39,
      pivot_root: 41,
      unshare: 97,
      setns: 268,
      ptrace: 117,
      process_vm_readv: 270,
      bpf: 280,
      keyctl: 219,
      open_by_handle_at: 265,
      finit_module: 273,
      kexec_load: 104,
      mount_setattr: 442,
      pidfd_getfd: 438,
      userfaultfd: 282,
      perf_event_open: 241,
    },
    allowed: {
      read: 63,
      write: 64,
      openat: 56,
      execve: 221,
      wait4: 260,
      futex: 98,
      getrandom: 278,
      memfd_create: 279,
      statx: 291,
      rseq: 293,
      landlock_create_ruleset: 444,
      prctl: 167,
      seccomp: 277,
    },
    clone: 220,
    ioctl: 29,
    socket: 198,
  },
} as const;

describe.each(['x64', 'arm64'] as const)('the system call filter for %s', (arch) => {
  const program = createSeccompFilter(arch);
  const calls = CALLS[arch];
  const answer = (number: number, ...args: bigint[]): string => judge(program, { number, audit: AUDIT[arch], args });

  it('refuses what an escape needs and allows what programs need', () => {
    const asked = (table: Record<string, number>) =>
      Object.fromEntries(Object.entries(table).map(([name, number]) => [name, answer(number)]));
    expect(asked(calls.refused)).toEqual(Object.fromEntries(Object.keys(calls.refused).map((name) => [name, 'EPERM'])));
    expect(asked(calls.allowed)).toEqual(Object.fromEntries(Object.keys(calls.allowed).map((name) => [name, 'allow'])));
  });

  it('says that io_uring, clone3 and openat2 do not exist, so that programs fall back', () => {
    expect([425, 426, 427, 435, 437].map((number) => answer(number))).toEqual(Array(5).fill('ENOSYS'));
  });

  it('lets no file run as its owner, by whichever call it gets its mode, and any other mode be', () => {
    const [setuid, other, create, temporary] = [0o4755n, 0o3777n, 0o102n, 0o20200002n];
    // The mode is an argument of each; of open and openat only where a file is made.
    const modes: readonly (readonly [number, (mode: bigint) => bigint[]])[] =
      arch === 'x64'
        ? [
            [90, (mode) => [0n, mode]],
            [91, (mode) => [3n, mode]],
            [268, (mode) => [0n, 0n, mode]],
            [452, (mode) => [0n, 0n, mode, 0n]],
            [85, (mode) => [0n, mode]],
            [133, (mode) => [0n, mode]],
            [259, (mode) => [0n, 0n, mode]],
            [2, (mode) => [0n, create, mode]],
            [257, (mode) => [0n, 0n, create, mode]],
            [257, (mode) => [0n, 0n, temporary, mode]],
          ]
        : [
            [52, (mode) => [3n, mode]],
            [53, (mode) => [0n, 0n, mode]],
            [452, (mode) => [0n, 0n, mode, 0n]],
            [33, (mode) => [0n, 0n, mode]],
            [56, (mode) => [0n, 0n, create, mode]],
            [56, (mode) => [0n, 0n, temporary, mode]],
          ];
    expect(modes.map(([call, args]) => [answer(call, ...args(setuid)), answer(call, ...args(other))])).toEqual(
      modes.map(() => ['EPERM', 'allow']),
    );
    expect(answer(arch === 'x64' ? 257 : 56, 0n, 0n, 2n, setuid)).toBe('allow');
    expect(answer(modes[0]?.[0] ?? 0, ...(modes[0]?.[1](0x1_0000_0000n | setuid) ?? []))).toBe('EPERM');
  });

  it('leaves the limit of core dumps as it is, and says that it was set; asking for it and other limits work', () => {
    const [setrlimit, prlimit] = arch === 'x64' ? [160, 302] : [164, 261];
    const [cores, files, none, low, high] = [4n, 7n, 0n, 0x7000n, 0x1_0000_0000n];
    expect([low, high].map((given) => answer(prlimit, 0n, cores, given))).toEqual(['no effect', 'no effect']);
    expect([answer(prlimit, 0n, cores, none, low), answer(prlimit, 0n, files, low)]).toEqual(['allow', 'allow']);
    expect([answer(setrlimit, cores, low), answer(setrlimit, files, low)]).toEqual(['no effect', 'allow']);
  });

  it('lets a process fork and start threads, but not make a namespace', () => {
    const threadFlags = 0x3d0f00n;
    const namespaces = [0x00020000n, 0x02000000n, 0x04000000n, 0x08000000n, 0x10000000n, 0x20000000n, 0x40000000n];
    expect([answer(calls.clone, 17n), answer(calls.clone, threadFlags)]).toEqual(['allow', 'allow']);
    expect(namespaces.map((flag) => answer(calls.clone, flag | 17n))).toEqual(namespaces.map(() => 'EPERM'));
  });

  it('refuses input typed into a terminal, however the upper half of the request is set', () => {
    const requests = [0x5412n, 0x541cn, 0x1_0000_5412n];
    expect(requests.map((request) => answer(calls.ioctl, 0n, request))).toEqual(['EPERM', 'EPERM', 'EPERM']);
    expect([answer(calls.ioctl, 0n, 0x5401n), answer(calls.ioctl, 0x5412n, 0x5413n)]).toEqual(['allow', 'allow']);
  });

  it('lets sockets be of four families only', () => {
    const families = Array.from({ length: 46 }, (_, family) => family);
    expect(families.filter((family) => answer(calls.socket, BigInt(family)) === 'allow')).toEqual([1, 2, 10, 16]);
  });

  it('lets no socket out, and nothing reach another process, where there are no namespaces', () => {
    const shared = createSeccompFilter(arch, 'shared');
    const there = (number: number, ...args: bigint[]) => judge(shared, { number, audit: AUDIT[arch], args });
    const families = Array.from({ length: 46 }, (_, family) => family);
    expect(families.filter((family) => there(calls.socket, BigInt(family)) === 'allow')).toEqual([16]);
    const ofOthers =
      arch === 'x64'
        ? ([
            [203, 0],
            [144, 0],
            [142, 0],
            [314, 0],
            [251, 1],
          ] as const)
        : ([
            [122, 0],
            [119, 0],
            [118, 0],
            [274, 0],
            [30, 1],
          ] as const);
    const named = (index: number, pid: bigint) => (index === 0 ? [pid, 0n] : [1n, pid]);
    expect(ofOthers.map(([call, at]) => [there(call, ...named(at, 0n)), there(call, ...named(at, 4711n))])).toEqual(
      ofOthers.map(() => ['allow', 'EPERM']),
    );
    const { shmget, prlimit, setpriority } =
      arch === 'x64' ? { shmget: 29, prlimit: 302, setpriority: 141 } : { shmget: 194, prlimit: 261, setpriority: 140 };
    expect([there(shmget, 0n), there(prlimit, 0n), there(prlimit, 4711n)]).toEqual(['EPERM', 'allow', 'EPERM']);
    expect([there(setpriority, 0n, 0n), there(setpriority, 0n, 4711n), there(setpriority, 2n, 0n)]).toEqual([
      'allow',
      'EPERM',
      'EPERM',
    ]);
  });

  it('kills a process that calls by the numbers of another architecture', () => {
    expect(judge(program, { number: 0, audit: 0x40000003 })).toBe('kill');
  });

  it('answers every number of the table, and leaves it loaded for the rest of the program', () => {
    const answers = new Set(Array.from({ length: 512 }, (_, number) => answer(number, 0n, 0n)));
    expect([...answers].sort()).toEqual(['ENOSYS', 'EPERM', 'allow']);
  });
});

describe('the filter', () => {
  it('refuses the x32 numbers on x64', () => {
    expect(judge(createSeccompFilter('x64'), { number: 0x40000000 + 165, audit: AUDIT.x64 })).toBe('ENOSYS');
  });

  it('exists for two architectures', () => {
    expect(['x64', 'arm64', 'riscv64', 'ia32'].filter(isFilterArch)).toEqual(['x64', 'arm64']);
  });
});
