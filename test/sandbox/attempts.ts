/** Deeds that the fence must stop. Each prints `breached` where it worked; `ran` at the end shows that it was tried at all. */
export interface Attempt {
  name: string;
  script: string;
  /**
   * Whose unfenced try shows that the deed works at all: anyone's, or only root's. `none` with the reason where it cannot be shown
   * without harm or is refused to everybody.
   */
  control: 'anyone' | 'root' | { none: string };
}

const NUMBERS =
  process.arch === 'x64' ? { keyctl: 250, ptrace: 101, vmReadv: 310 } : { keyctl: 219, ptrace: 117, vmReadv: 270 };
const anyone = (name: string, script: string): Attempt => ({ name, script, control: 'anyone' });
const onlyRoot = (name: string, script: string): Attempt => ({ name, script, control: 'root' });
const uncontrolled = (name: string, script: string, none: string): Attempt => ({ name, script, control: { none } });

/** Environment: OUT (a folder outside), HOST_HOME, SOCKET (a socket outside), ABSTRACT, PORT, HARNESS (its process). */
export const ATTEMPTS: readonly Attempt[] = [
  anyone('write outside', 'echo x > "$OUT/a" && echo breached'),
  anyone('write through a new symbolic link', 'ln -s "$OUT" link-a; echo x > link-a/b && echo breached'),
  anyone('write through a symbolic link that was there', 'echo x > planted/c && echo breached'),
  anyone('write through a hard link to a file outside', 'ln "$OUT/mine" hard && echo y >> hard && echo breached'),
  anyone('move a file from outside in', 'mv "$OUT/other" moved && echo breached'),
  anyone('write through /proc/self/root', 'echo x > "/proc/self/root$OUT/d" && echo breached'),
  anyone("write through the harness's root", 'echo x > "/proc/$HARNESS/root$OUT/e" && echo breached'),
  anyone('see that something is outside', '[ -e "$OUT" ] && echo breached'),
  anyone(
    "read a secret in the harness's environment",
    'grep -qsa "^HARNESS_SECRET=\\|[^a-z]HARNESS_SECRET=" /proc/[0-9]*/environ && echo breached',
  ),
  anyone(
    "see the harness's command line",
    "tr '\\0' ' ' < /proc/$HARNESS/cmdline | grep -q harness.ts && echo breached",
  ),
  anyone('signal the harness', 'kill -URG "$HARNESS" && echo breached'),
  anyone(
    'reach a socket outside',
    `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un($ENV{SOCKET})) and print "breached\\n"'`,
  ),
  // Node pads such a name to its full length: only Node finds it again.
  anyone(
    'reach an abstract socket',
    `node -e "require('net').connect('\\0' + process.env.ABSTRACT).on('connect',()=>{console.log('breached');process.exit()}).on('error',()=>process.exit())"`,
  ),
  anyone("reach a service on the host's loopback", 'exec 3<>"/dev/tcp/127.0.0.1/$PORT" && echo breached'),
  anyone('make a user namespace', 'unshare -U true && echo breached'),
  anyone('read a kernel keyring', `perl -e 'exit(syscall(${NUMBERS.keyctl}, 0, -3, 0) < 0)' && echo breached`),
  anyone('trace a process', `perl -e 'exit(syscall(${NUMBERS.ptrace}, 0, 0, 0, 0) < 0)' && echo breached`),
  anyone('plant a git hook', 'echo x > .git/hooks/pre-commit && echo breached'),
  anyone('change the git configuration', 'echo x >> .git/config && echo breached'),
  anyone('overwrite a protected file', 'echo x > belay.yml && echo breached'),
  anyone('add to a protected folder', 'echo x > .github/workflows/new.yml && echo breached'),
  anyone('truncate a protected file deep down', 'echo x > a/b/kept.txt && echo breached'),
  anyone('make a hidden file readable', 'chmod 644 .env && echo breached'),
  anyone('read a hidden file', 'grep -q hidden .env && echo breached'),
  anyone('read a file in a hidden folder', 'cat private/* | grep -q hidden && echo breached'),
  anyone("read the user's own files", 'grep -q token "$HOST_HOME/.npmrc" && echo breached'),
  anyone("write the user's own files", 'echo x >> "$HOST_HOME/.bashrc" && echo breached'),
  anyone('replace a protected file by moving one over it', 'echo x > new && mv -f new belay.yml && echo breached'),
  anyone('move a protected folder away', 'mv .github gone && echo breached'),
  anyone('move a folder above a protected file away', 'mv a gone-a && echo breached'),
  anyone('move the git folder away', 'mv .git gone-git && echo breached'),
  anyone('remove a protected file', 'rm -f belay.yml; [ -e belay.yml ] || echo breached'),
  anyone('remove a hidden folder', 'rm -rf private 2>/dev/null; [ -d private ] || echo breached'),
  onlyRoot(
    'write a kernel setting',
    'old=$(cat /proc/sys/kernel/core_pattern); echo "$old" > /proc/sys/kernel/core_pattern && echo breached',
  ),
  onlyRoot("read the machine's password file", 'head -c 1 /etc/shadow > /dev/null && echo breached'),
  onlyRoot('mount a file system', 'mkdir -p mnt; mount -t tmpfs none mnt && umount mnt && echo breached'),
  onlyRoot('write to a folder of programs', '[ -w /usr/local/bin ] && echo breached'),
  onlyRoot('make a device', 'mknod dev b 1 1 && rm dev && echo breached'),
  uncontrolled(
    'raise a limit',
    'ulimit -S -f 1 2>/dev/null; ulimit -H -f 99999999 && echo breached',
    'root may lack the capability too',
  ),
  uncontrolled('fill /dev', 'head -c 1000000 /dev/zero > /dev/fill && echo breached', 'would fill the real /dev'),
  uncontrolled(
    'find what bubblewrap stood on',
    '[ -e /oldroot ] || [ -e /newroot ] && echo breached',
    'only there while it is set up',
  ),
  uncontrolled(
    "read another process's memory",
    `perl -e '$b = "x" x 16; $v = pack("PQ", $b, 16); exit(syscall(${NUMBERS.vmReadv}, $ENV{HARNESS} + 0, $v, 1, $v, 1, 0) < 0)' && echo breached`,
    'security modules refuse it to some',
  ),
  uncontrolled(
    "write outside the workspace's file system",
    'echo x > /stray && echo breached',
    'would write to the real root',
  ),
];
