import { type Attempt, CALLS, plainSaid, rootSaid, rootSaidWhere, said, unlessRefused, unshown } from './attempt.ts';

const BINFMT = '/proc/sys/fs/binfmt_misc/register';
const KEYS = '/proc/sysrq-trigger';

/** Fails (EPERM, ENOSYS) where the filter refuses the call; any other answer is the call's own. */
const reaches = (call: number, args = ''): string =>
  `perl -e 'syscall(${call}${args}); exit($!{EPERM} || $!{ENOSYS} ? 1 : 0)' && echo breached`;

export const KERNEL_ATTEMPTS: readonly Attempt[] = [
  said('userns', 'make a user namespace', 'unshare -U true && echo breached'),
  said(
    'userns-mount',
    'mount in a user namespace, to lift what is mounted over',
    'unshare -Urm mount -t tmpfs none /mnt && echo breached',
  ),
  said('netns', 'make a network namespace', 'unshare -Un true && echo breached'),
  rootSaid(
    'setns',
    'enter the namespaces of belay',
    `perl -e 'open my $h, "<", "/proc/$ENV{HARNESS}/ns/mnt" or exit 1; exit(syscall(${CALLS.setns}, fileno $h, 0) < 0)' && echo breached`,
  ),
  said('iouring', 'make an io_uring, which no filter sees', reaches(425, ', 1, 0')),
  said('keyring', 'read a kernel keyring', `perl -e 'exit(syscall(${CALLS.keyctl}, 0, -3, 0) < 0)' && echo breached`),
  said(
    'addkey',
    'add to a kernel keyring',
    `perl -e '($t, $n, $v) = ("user", "belay", "x"); exit(syscall(${CALLS.addKey}, $t, $n, $v, 1, -3) < 0)' && echo breached`,
  ),
  said(
    'memfd',
    'run a program that is no file, to get out with it',
    `perl -e '$^F = 99; $n = "x"; $fd = syscall(${CALLS.memfd}, $n, 0); open my $h, ">&=", $fd; syswrite $h, "#!/bin/sh\\necho x > \\"\\$OUT/memfd\\" && echo breached\\n"; open my $r, "<", "/proc/self/fd/$fd"; close $h; exec "/proc/self/fd/" . fileno $r'`,
  ),
  said(
    'tiocsti',
    'type into a terminal',
    unlessRefused(`open my $t, "<", "/dev/null"; $c = "x"; ioctl($t, 0x5412, $c)`),
  ),
  said(
    'tioclinux',
    'type into a console',
    unlessRefused(`open my $t, "<", "/dev/null"; $c = "x"; ioctl($t, 0x541c, $c)`),
  ),
  said('userfault', 'handle page faults in place of the kernel', reaches(CALLS.userfault, ', 1')),
  said(
    'requestkey',
    'have the kernel ask for a key',
    unlessRefused(`($t, $n) = ("user", "belay"); syscall(${CALLS.requestKey}, $t, $n, 0, 0)`),
  ),
  said('clone3', 'make processes by the call whose flags no filter sees', reaches(435, ', 0, 0')),
  said('openat2', 'open files by the call whose mode no filter sees', reaches(437, ', 0, 0, 0, 0')),
  rootSaid('fsopen', 'mount by the newer calls', unlessRefused(`$n = "tmpfs"; syscall(430, $n, 0)`)),
  rootSaid('fanotify', 'watch the files of others', reaches(CALLS.fanotify, ', 0, 0')),
  rootSaidWhere('module', 'load a module into the kernel', reaches(CALLS.module, ', -1, 0, 0'), ['/proc/modules']),
  rootSaid('swap', 'have memory written to a file', unlessRefused(`$n = "none"; syscall(${CALLS.swap}, $n, 0)`)),
  rootSaid('syslog', "read the kernel's messages by a call", reaches(CALLS.syslog, ', 10, 0, 0')),
  unshown(
    'dev-disk',
    'open the disk, or memory itself',
    'for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem; do (exec 3<"$d") && echo breached; done; true',
    'named differently on every machine, and kept from root by many; see `mknod` and `kmsg`',
  ),
  rootSaidWhere('binfmt', 'register a kind of program that the kernel starts', `[ -w ${BINFMT} ] && echo breached`, [
    BINFMT,
  ]),
  rootSaid('bpf', 'load a program into the kernel', reaches(CALLS.bpf, ', 0, 0, 0')),
  rootSaid('perf', 'watch other processes by performance counters', reaches(CALLS.perf, ', 0, -1, -1, -1, 0')),
  rootSaid('mount', 'mount a file system', 'mkdir -p mnt; mount -t tmpfs none mnt && umount mnt && echo breached'),
  rootSaid('mknod', 'make a device', 'mknod dev b 1 1 && rm dev && echo breached'),
  rootSaid('kmsg', "read the kernel's messages", '(exec 3</dev/kmsg) && echo breached'),
  rootSaid(
    'sysctl',
    'write a kernel setting',
    'old=$(cat /proc/sys/kernel/core_pattern); echo "$old" > /proc/sys/kernel/core_pattern && echo breached',
  ),
  rootSaid(
    'sysctl-user',
    'write another kernel setting',
    'old=$(cat /proc/sys/kernel/panic); echo "$old" > /proc/sys/kernel/panic && echo breached',
  ),
  rootSaidWhere('sysrq', 'reach the emergency keys', `(exec 3>${KEYS}) && echo breached`, [KEYS]),
  rootSaid('chroot', 'change the root', 'chroot / true && echo breached'),
  rootSaid('hostname', 'rename the machine', 'hostname "$(hostname)" && echo breached'),
  rootSaid('caps', 'keep a capability', "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo breached"),
  plainSaid(
    'core',
    'write a core dump',
    `ulimit -c unlimited; [ "$(ulimit -c)" != 0 ] && echo breached; (ulimit -c 4096; kill -SEGV $BASHPID); ls core core.* && echo breached`,
  ),
  plainSaid(
    'core-handler',
    "have the machine's own program for core dumps started, by any limit but 1",
    `perl -e '$l = pack("QQ", 0, 0); syscall(${CALLS.prlimit}, 0, 4, $l, 0); open L, "/proc/self/limits"; exit !grep / 0 +0 +bytes/, grep /core/, <L>' && echo breached`,
  ),
  plainSaid('ulimit', 'raise a limit', 'ulimit -S -f 1 2>/dev/null; ulimit -H -f 99999999 && echo breached'),
];
