import { type Attempt, CALLS, plainSaid, rootSaid, said } from './attempt.ts';
import { PIPELINE_TOKENS, TOKEN_VALUE } from './pipeline.ts';

const NO_PID_NAMESPACE =
  'Landlock has no process namespace: names and arguments can be seen (belay keeps secrets out of both), no environment, memory or file';

/** HARNESS: belay's process; `HARNESS_SECRET` is in its environment and is not passed on. */
export const PROCESS_ATTEMPTS: readonly Attempt[] = [
  said(
    'r-environ',
    "read a secret in belay's environment",
    'grep -qsa "HARNESS_SECRET=[v]alue" /proc/[0-9]*/environ && echo breached',
  ),
  said(
    'pid1env',
    'read a secret in the environment of the first process',
    'grep -qa "HARNESS_SECRET=[v]alue" /proc/1/environ /proc/$HARNESS/environ && echo breached',
  ),
  plainSaid('r-env', 'find a secret in its own environment', 'env | grep -q "HARNESS_SECRET=[v]alue" && echo breached'),
  plainSaid(
    'gh-own',
    `find the job's tokens in its own environment ($${PIPELINE_TOKENS.join(', $')})`,
    `env | grep -qE "^(${PIPELINE_TOKENS.join('|')})=${TOKEN_VALUE}" && echo breached`,
  ),
  ...PIPELINE_TOKENS.map((name) =>
    said(
      name.toLowerCase().replaceAll('_', '-'),
      `read $${name} in belay's environment`,
      `grep -qsa "${name}=${TOKEN_VALUE}" /proc/[0-9]*/environ && echo breached`,
    ),
  ),
  {
    ...said(
      'r-cmdline',
      "see belay's command line",
      "tr '\\0' ' ' < /proc/$HARNESS/cmdline | grep -q cli.js && echo breached",
    ),
    open: { landlock: { for: 'everyone', why: NO_PID_NAMESPACE } },
  },
  said(
    'r-task',
    "read a secret in the environment of belay's threads",
    'grep -qsa "HARNESS_SECRET=[v]alue" /proc/$HARNESS/task/*/environ && echo breached',
  ),
  said('r-io', 'see how much belay reads and writes', 'grep -q rchar "/proc/$HARNESS/io" && echo breached'),
  said('r-maps', "read the map of belay's memory", 'grep -q node "/proc/$HARNESS/maps" && echo breached'),
  said('r-mem', "open belay's memory", '(exec 3<"/proc/$HARNESS/mem") && echo breached'),
  said('r-fd', "see belay's open files", 'readlink "/proc/$HARNESS/fd/"* | grep -q . && echo breached'),
  // A limit that the kernel keeps and does not use: belay goes on. That of core dumps says nothing, see the filter.
  said('prlimit', 'lower a limit of belay', 'prlimit --pid "$HARNESS" --rss=4096000:4096000 && echo breached'),
  said(
    'r-cwd',
    "read through belay's working directory",
    'grep -q version "/proc/$HARNESS/cwd/belay.yml" && echo breached',
  ),
  rootSaid(
    'ptrace',
    'attach to belay as a debugger',
    `perl -e 'exit(syscall(${CALLS.ptrace}, 0x4206, $ENV{HARNESS} + 0, 0, 0) < 0)' && echo breached`,
  ),
  rootSaid(
    'vmread',
    "copy from belay's memory",
    // Only memory that is there has an answer: the first bytes of belay's program.
    `perl -e '$b = "x" x 16; $to = pack("PQ", $b, 16); open my $m, "<", "/proc/$ENV{HARNESS}/maps"; $from = pack("QQ", hex((split /-/, <$m> // "0")[0]), 16); exit(syscall(${CALLS.vmReadv}, $ENV{HARNESS} + 0, $to, 1, $from, 1, 0) < 0 && ($!{EPERM} || $!{ESRCH}))' && echo breached`,
  ),
  said('traceme', 'be traced at all', `perl -e 'exit(syscall(${CALLS.ptrace}, 0, 0, 0, 0) < 0)' && echo breached`),
  said('kill', 'signal belay', 'kill -URG "$HARNESS" && echo breached'),
  said('killgroup', "signal belay's process group", 'kill -URG -- "-$HARNESS" && echo breached'),
  said('renice', 'change the priority of belay', 'renice -n 19 -p "$HARNESS" && echo breached'),
  said('affinity', 'keep belay to one processor', 'taskset -p 1 "$HARNESS" && echo breached'),
  said('ioprio', 'make belay wait for the disk', 'ionice -c 3 -p "$HARNESS" && echo breached'),
  said(
    'oom',
    'have belay ended first when memory is short',
    'echo 500 > "/proc/$HARNESS/oom_score_adj" && echo breached',
  ),
  said(
    'pidfd',
    'signal belay by a descriptor of it',
    `perl -e '$fd = syscall(434, $ENV{HARNESS} + 0, 0); exit($fd < 0 || syscall(424, $fd, 23, 0, 0) < 0)' && echo breached`,
  ),
  rootSaid(
    'pidfd-getfd',
    'take an open file of belay',
    `perl -e '$fd = syscall(434, $ENV{HARNESS} + 0, 0); exit($fd < 0 || syscall(438, $fd, 1, 0) < 0)' && echo breached`,
  ),
  said('nnp', 'gain privileges by a setuid program', "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo breached"),
  said(
    'unfiltered',
    'run without a filter of system calls',
    "grep -q 'Seccomp:.*0' /proc/self/status && echo breached",
  ),
  plainSaid('fd-leak', 'use a file that was left open for belay', 'cat <&9 | grep -q left-open && echo breached'),
  plainSaid(
    'fdreopen',
    "open belay's output file by its descriptor, to forge it",
    '{ [ -f /proc/self/fd/1 ] || [ -f /proc/self/fd/2 ]; } && echo breached',
  ),
  {
    ...plainSaid(
      'daemon',
      'leave a process behind',
      'setsid nohup sleep "$MARK" > /dev/null 2>&1 & (setsid env -i sleep "$MARK" > /dev/null 2>&1 &)',
    ),
    changes: 'process',
  },
  said(
    'sysv-queue',
    'send a message to others by a kernel queue',
    `perl -e 'msgsnd($ENV{QUEUE}, pack("l! a*", 1, "x"), 2048) and print "breached\\n"'`,
  ),
  said('sysv', 'read shared memory of others', `perl -e 'shmread($ENV{SEGMENT}, $b, 0, 4) and print "breached\\n"'`),
];
