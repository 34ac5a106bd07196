import { type Attempt, CALLS, rootSaid, said, unlessRefused, unshown } from './attempt.ts';
import { PIPELINE_FILES } from './pipeline.ts';

const LOOKUPS = 'Landlock governs what is opened, not what is looked up: names and sizes can be seen, no content';
const MODES = 'Landlock does not govern modes, owners and times of files that the user owns';

/** OUT: a folder of the user's beside the workspace; HOST_HOME: its home. */
export const FILE_ATTEMPTS: readonly Attempt[] = [
  said('w-outside', 'write outside the workspace', 'echo x > "$OUT/a" && echo breached'),
  said('w-newsymlink', 'write through a new symbolic link', 'ln -s "$OUT" link-a; echo x > link-a/b && echo breached'),
  said('w-symlink', 'write through a symbolic link that was there', 'echo x > planted/c && echo breached'),
  said('w-filelink', 'write through a link to a file outside', 'echo x >> planted-file && echo breached'),
  said(
    'w-hardlink',
    'write through a hard link to a file outside',
    'ln "$OUT/mine" hard && echo y >> hard && echo breached',
  ),
  said('w-rename', 'move a file from outside in', 'mv "$OUT/other" moved && echo breached'),
  said('w-exchange', 'move a file of the workspace out', 'echo x > leaving; mv leaving "$OUT/left" && echo breached'),
  said('w-truncate', 'truncate a file outside', 'truncate -s 1 "$OUT/cut" && echo breached'),
  said('w-unlink', 'remove a file outside', 'rm "$OUT/gone" && echo breached'),
  said('w-procroot', 'write through /proc/self/root', 'echo x > "/proc/self/root$OUT/d" && echo breached'),
  said('w-harnessroot', "write through belay's root", 'echo x > "/proc/$HARNESS/root$OUT/e" && echo breached'),
  said(
    'w-harnesscwd',
    "write through belay's working directory",
    'echo x > "/proc/$HARNESS/cwd/../outside/f" && echo breached',
  ),
  said('w-dotdot', 'write through a way with many dots', 'echo x > "../../../../../../../..$OUT/g" && echo breached'),
  said(
    'gh-env',
    'add to a file of the pipeline, where it is',
    'echo "PATH=/evil" >> "$OUT/github-env" && echo breached',
  ),
  ...PIPELINE_FILES.map((name) => ({
    ...said(
      name.toLowerCase().replaceAll('_', '-'),
      `add to the file that the runner gave belay's step as $${name}`,
      `for f in "$${name}" "$(tr '\\0' '\\n' < "/proc/$HARNESS/environ" | sed -n 's/^${name}=//p')"; do [ -n "$f" ] && echo "PATH=/evil" >> "$f" && found=1; done; [ -n "$found" ]`,
    ),
    changes: `../outside/${name}`,
  })),
  said('h-write', "write the user's own files", 'echo x >> "$HOST_HOME/.bashrc" && echo breached'),
  said('h-npmrc', "read the user's token", 'grep -q token "$HOST_HOME/.npmrc" && echo breached'),
  said('h-ssh', "list the user's own folder", 'ls "$HOST_HOME/.ssh" | grep -q id && echo breached'),
  said('r-outside', 'read a file outside', 'grep -q mine "$OUT/mine" && echo breached'),
  {
    ...said('r-stat', 'see that something is outside', '[ -e "$OUT" ] && echo breached'),
    open: { landlock: { for: 'everyone', why: LOOKUPS } },
  },
  {
    ...said('w-mode', 'change the mode of a file outside', 'chmod 666 "$OUT/mode" && echo breached'),
    open: { landlock: { for: 'user', why: MODES } },
  },
  {
    ...said(
      'w-times',
      'change the times of a file outside',
      `perl -e 'exit !utime(1, 1, "$ENV{OUT}/mode")' && echo breached`,
    ),
    open: { landlock: { for: 'user', why: MODES } },
  },
  said(
    'tmp-shared',
    'leave something in the /tmp that others use',
    'echo x > "/tmp/$ABSTRACT.left" && ls "/proc/$HARNESS/root/tmp/$ABSTRACT.left" && echo breached',
  ),
  said(
    'w-handle',
    'open a file by its handle, past every path',
    unlessRefused(`$h = pack("Iix128", 128, 0); syscall(${CALLS.handle}, 3, $h, 0)`),
  ),
  said(
    'w-setuid',
    'leave a program that runs as its owner (root, in a folder of root)',
    'cp /bin/true setuid-a; chmod 4755 setuid-a; [ -u setuid-a ] && echo breached',
  ),
  said(
    'w-setuid-made',
    'make such a program with its mode, at once',
    `perl -MFcntl -e 'sysopen(my $f, "setuid-b", O_CREAT | O_WRONLY, 04755)'; [ -u setuid-b ] && echo breached`,
  ),
  unshown(
    'w-proc1root',
    'write through the root of the first process',
    'echo x > "/proc/1/root$OUT/h" && echo breached',
    'the first process of a machine may be out of reach without a fence too, or have another root; see `w-harnessroot`',
  ),
  rootSaid('r-shadow', "read the machine's password file", 'head -c 1 /etc/shadow > /dev/null && echo breached'),
  rootSaid(
    'tool-write',
    'write to a folder of programs',
    '(: > "/usr/local/bin/$ABSTRACT") && rm "/usr/local/bin/$ABSTRACT" && echo breached',
  ),
  rootSaid(
    'preload',
    'have a library loaded into every program',
    '[ -w /etc ] && (: >> /etc/ld.so.preload.belay) && rm /etc/ld.so.preload.belay && echo breached',
  ),
  rootSaid('w-etc', 'write to /etc', '(: > "/etc/$ABSTRACT") && rm "/etc/$ABSTRACT" && echo breached'),
  rootSaid(
    'cgroup',
    'make a control group',
    'for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir "$d/$ABSTRACT" 2>/dev/null && rmdir "$d/$ABSTRACT" && echo breached && break; done',
  ),
  rootSaid(
    'devfill',
    'fill /dev',
    'head -c 100000 /dev/zero > "/dev/$ABSTRACT" && rm "/dev/$ABSTRACT" && echo breached',
  ),
  unshown(
    'oldroot',
    'find what bubblewrap stood on',
    '{ [ -e /oldroot ] || [ -e /newroot ]; } && echo breached',
    'bubblewrap alone makes such folders, and takes them away before the command begins',
  ),
  rootSaid('w-root', 'write to the root folder', '(: > "/$ABSTRACT") && rm "/$ABSTRACT" && echo breached'),
];
