/**
 * A classic BPF program for `bwrap --seccomp`: what the fence does not need and an escape would.
 * Numbers: Linux `unistd_64.h` (x64) and `asm-generic/unistd.h` (arm64); layout: `struct seccomp_data` in `linux/seccomp.h`.
 */
export type FilterArch = 'x64' | 'arm64';

/** Refused with EPERM: [x64, arm64]; null where the architecture has no such call. */
const REFUSED: Readonly<Record<string, readonly [number, number | null]>> = {
  // Mounts and namespaces: the fence itself is made of them.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  open_tree: [428, 428],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  // Other processes' memory and descriptors.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // Kernel interfaces with a history of privilege bugs, or without a namespace of their own.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  open_by_handle_at: [304, 265],
  syslog: [103, 116],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  iopl: [172, null],
  ioperm: [173, null],
};

/** Refused too where the namespaces are the machine's own: shared memory, semaphores and queues that have no path. */
const REFUSED_WITHOUT_NAMESPACES: Readonly<Record<string, readonly [number, number]>> = {
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semctl: [66, 191],
  semop: [65, 193],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgctl: [71, 187],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
};

/** Of one process or thread, named by an argument: [x64, arm64, index of it]. Where processes are the machine's own, only of its own (0). */
const OF_A_PROCESS: readonly (readonly [number, number, number])[] = [
  [203, 122, 0], // sched_setaffinity
  [144, 119, 0], // sched_setscheduler
  [142, 118, 0], // sched_setparam
  [314, 274, 0], // sched_setattr
  [251, 30, 1], // ioprio_set
  [302, 261, 0], // prlimit64
];

/**
 * What gives a file its mode: [x64, arm64, index of the mode, index of flags that say whether a file is made]. A program that runs as its
 * owner, left in a folder of root's, would be root's for everybody on the machine.
 */
const MODES: readonly (readonly [number, number | null, number, number | null])[] = [
  [90, null, 1, null], // chmod
  [91, 52, 1, null], // fchmod
  [268, 53, 2, null], // fchmodat
  [452, 452, 2, null], // fchmodat2
  [85, null, 1, null], // creat
  [2, null, 2, 1], // open
  [257, 56, 3, 2], // openat
  [133, null, 1, null], // mknod
  [259, 33, 2, null], // mknodat
];
const S_ISUID = 0o4000;
const RLIMIT_CORE = 4;
/** O_CREAT | __O_TMPFILE. */
const MAKES_A_FILE = 0o100 | 0o20000000;

/**
 * Answered with ENOSYS, so that programs fall back: io_uring passes by this filter, clone3 and openat2 hide flags and modes in memory.
 */
const ABSENT: readonly number[] = [425, 426, 427, 435, 437];

const ARCHES = {
  x64: { audit: 0xc000003e, clone: 56, ioctl: 16, socket: 41, setpriority: 141, setrlimit: 160, prlimit: 302 },
  arm64: { audit: 0xc00000b7, clone: 220, ioctl: 29, socket: 198, setpriority: 140, setrlimit: 164, prlimit: 261 },
} as const;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const EPERM = 0x00050000 | 1;
const ENOSYS = 0x00050000 | 38;
/** The call is not made, and said to have worked. */
const NO_EFFECT = 0x00050000;

/** Offsets into `struct seccomp_data`; arguments are 64 bits, their low half comes first (both architectures are little-endian). */
const NUMBER = 0;
const AUDIT_ARCH = 4;
const argument = (index: number): number => 16 + 8 * index;

/** CLONE_NEWCGROUP | UTS | IPC | USER | PID | NET | NS. */
const NEW_NAMESPACE_FLAGS = 0x7e020000;
const X32_BIT = 0x40000000;
/** Writing into the terminal's input queue as if typed. */
const TERMINAL_INJECTION = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK; not AF_VSOCK (the virtual machine's host) nor the rare ones. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** AF_NETLINK alone, to list interfaces: without a namespace, every other family reaches the machine's own sockets. */
const SOCKET_FAMILIES_WITHOUT_NAMESPACES = [16];

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

export function isFilterArch(arch: string): arch is FilterArch {
  return arch === 'x64' || arch === 'arm64';
}

/**
 * The program as `struct sock_filter[]`, 8 bytes an instruction. `namespaces`: whether the fence has network, process and IPC namespaces
 * of its own; `shared`: what reaches other processes through them is refused.
 */
export function createSeccompFilter(arch: FilterArch, namespaces: 'own' | 'shared' = 'own'): Buffer {
  const { audit, clone, ioctl, socket, setpriority, setrlimit, prlimit } = ARCHES[arch];
  const column = arch === 'x64' ? 0 : 1;
  const isShared = namespaces === 'shared';
  const refuse = (call: number, answer: number): Instruction[] => [
    [JUMP_EQUAL, 0, 1, call],
    [RETURN, 0, 0, answer],
  ];
  const program: Instruction[] = [
    [LOAD, 0, 0, AUDIT_ARCH],
    [JUMP_EQUAL, 1, 0, audit],
    // Another architecture's numbers (32-bit calls) would mean other calls.
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    ...(arch === 'x64' ? [[JUMP_AT_LEAST, 0, 1, X32_BIT] as const, [RETURN, 0, 0, ENOSYS] as const] : []),
    ...Object.values({ ...REFUSED, ...(isShared ? REFUSED_WITHOUT_NAMESPACES : {}) }).flatMap((numbers) => {
      const call = numbers[column];
      return call === null ? [] : refuse(call, EPERM);
    }),
    ...ABSENT.flatMap((call) => refuse(call, ENOSYS)),
    ...MODES.flatMap((entry) => {
      const call = entry[column];
      return call === null ? [] : refuseSetuid(call, entry[2], entry[3]);
    }),
    ...refuseWhenArgument(clone, 0, [[JUMP_ANY_BIT, NEW_NAMESPACE_FLAGS]]),
    ...refuseWhenArgument(
      ioctl,
      1,
      TERMINAL_INJECTION.map((request) => [JUMP_EQUAL, request]),
    ),
    ...refuseUnlessArgument(socket, 0, isShared ? SOCKET_FAMILIES_WITHOUT_NAMESPACES : SOCKET_FAMILIES),
    ...(isShared
      ? [
          // Limits and priority of its own process only: not of belay, which may be the same user's.
          ...OF_A_PROCESS.flatMap((entry) => refuseUnlessArgument(entry[column], entry[2], [0])),
          ...refuseUnlessArgument(setpriority, 0, [0, 1]),
          ...refuseUnlessArgument(setpriority, 1, [0]),
        ]
      : []),
    ...overlook(setrlimit, { index: 0, value: RLIMIT_CORE, pointer: null }),
    ...overlook(prlimit, { index: 1, value: RLIMIT_CORE, pointer: 2 }),
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}

/** Expects the call's number loaded, and leaves it so. */
function refuseWhenArgument(call: number, index: number, tests: readonly (readonly [number, number])[]): Instruction[] {
  const body: Instruction[] = [
    [LOAD, 0, 0, argument(index)],
    ...tests.map(
      ([jump, value], at): Instruction => [jump, tests.length - 1 - at, at === tests.length - 1 ? 1 : 0, value],
    ),
    [RETURN, 0, 0, EPERM],
    [LOAD, 0, 0, NUMBER],
  ];
  return [[JUMP_EQUAL, 0, body.length, call], ...body];
}

/** `flags`: the mode counts only where one of them says that a file is made; it is left over from anything else otherwise. */
function refuseSetuid(call: number, mode: number, flags: number | null): Instruction[] {
  const isMade: Instruction[] =
    flags === null
      ? []
      : [
          [LOAD, 0, 0, argument(flags)],
          [JUMP_ANY_BIT, 0, 3, MAKES_A_FILE],
        ];
  const body: Instruction[] = [
    ...isMade,
    [LOAD, 0, 0, argument(mode)],
    [JUMP_ANY_BIT, 0, 1, S_ISUID],
    [RETURN, 0, 0, EPERM],
    [LOAD, 0, 0, NUMBER],
  ];
  return [[JUMP_EQUAL, 0, body.length, call], ...body];
}

interface Overlooked {
  index: number;
  value: number;
  /** Of an argument without which the call only asks. */
  pointer: number | null;
}

/**
 * The limit of core dumps stays what the fence has set: at any other, 0 included, the kernel starts the machine's program for them, as
 * root and outside. Programs that switch dumps off, some of which end where they may not, are told that they have.
 */
function overlook(call: number, { index, value, pointer }: Overlooked): Instruction[] {
  const isGiven: Instruction[] =
    pointer === null
      ? []
      : [
          [LOAD, 0, 0, argument(pointer)],
          [JUMP_EQUAL, 0, 2, 0],
          [LOAD, 0, 0, argument(pointer) + 4],
          [JUMP_EQUAL, 1, 0, 0],
        ];
  const body: Instruction[] = [
    [LOAD, 0, 0, argument(index)],
    [JUMP_EQUAL, 0, isGiven.length + 1, value],
    ...isGiven,
    [RETURN, 0, 0, NO_EFFECT],
    [LOAD, 0, 0, NUMBER],
  ];
  return [[JUMP_EQUAL, 0, body.length, call], ...body];
}

/** As above, with the list turned round: every value that is not in it is refused. */
function refuseUnlessArgument(call: number, index: number, allowed: readonly number[]): Instruction[] {
  const body: Instruction[] = [
    [LOAD, 0, 0, argument(index)],
    ...allowed.map((value, at): Instruction => [JUMP_EQUAL, allowed.length - at, 0, value]),
    [RETURN, 0, 0, EPERM],
    [LOAD, 0, 0, NUMBER],
  ];
  return [[JUMP_EQUAL, 0, body.length, call], ...body];
}
