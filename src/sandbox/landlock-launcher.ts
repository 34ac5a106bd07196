import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { STATUS_FD } from './bubblewrap-args.ts';
import { type LandlockRule, WRITE_FILE } from './landlock-rules.ts';
import { LIMIT_CORES } from './limit-dumps.ts';

const ENV_PREFIX = 'BELAY_SET_';

/**
 * Stays outside the fence as the parent of all that runs inside, because there is no process namespace to end with: orphans come to it
 * (it is their subreaper), and it is gone only when all of them are. Its child becomes the command's user, restricts itself and gives
 * way to the command. Perl, because it is on every Debian and Ubuntu image and can call the kernel without an add-on.
 *
 * Arguments: system call numbers, uid and gid (-1: stay), ruleset as hex, file of the seccomp program, count and (access, path) of
 * rules, the command. On the status descriptor it says what bubblewrap says there: `child-pid`, and `exit-code` only if the command ran.
 */
const LAUNCH_SCRIPT = `
use strict;
${LIMIT_CORES};
my ($status, $broken);
sub fail { my $words = "belay landlock: $_[0]: $!\\n"; if ($broken) { syswrite $broken, $words } else { syswrite STDERR, $words } exit 111 }
my %call = split /[=,]/, shift;
my ($uid, $gid, $attr, $filter, $count) = splice @ARGV, 0, 5;
my @rules = splice @ARGV, 0, 2 * $count;
open($status, ">&=", ${STATUS_FD}) or fail("status");
open(my $file, "<", $filter) or fail("filter");
my $code = do { local $/; <$file> };
$attr = pack("H*", $attr);
my $set = syscall($call{create}+0, $attr, length $attr, 0);
$set >= 0 or fail("landlock_create_ruleset");
my @open;
for (my $i = 0; $i < @rules; $i += 2) {
  sysopen(my $h, $rules[$i + 1], 0x280000) or fail("open $rules[$i + 1]");
  my $rule = pack("Ql", $rules[$i] + 0, fileno $h);
  syscall($call{add}+0, $set, 1, $rule, 0) == 0 or fail("rule for $rules[$i + 1]");
  push @open, $h;
}
syscall($call{prctl}+0, 36, 1, 0, 0, 0) == 0 or fail("subreaper");
my $stop = 0;
$SIG{TERM} = sub { $stop = 1 };
$SIG{INT} = $SIG{HUP} = "IGNORE";
my $parent = getppid;
syscall($call{prctl}+0, 1, 15, 0, 0, 0) == 0 or fail("parent death signal");
$stop = 1 if getppid != $parent;
pipe(my $told, my $tell) or fail("pipe");
my $child = fork;
defined $child or fail("fork");
if (!$child) {
  $broken = $tell;
  close $told;
  close $status;
  $SIG{$_} = "DEFAULT" for qw(TERM INT HUP);
  syscall($call{setsid}+0) >= 0 or fail("session");
  if ($uid >= 0) {
    syscall($call{setgroups}+0, 0, 0) == 0 or fail("groups");
    syscall($call{setresgid}+0, $gid+0, $gid+0, $gid+0) == 0 or fail("gid");
    syscall($call{setresuid}+0, $uid+0, $uid+0, $uid+0) == 0 or fail("uid");
  }
  syscall($call{prctl}+0, 38, 1, 0, 0, 0) == 0 or fail("no_new_privs");
  syscall($call{restrict}+0, $set, 0) == 0 or fail("landlock_restrict_self");
  my $program = pack("S x6 P", length($code) / 8, $code);
  syscall($call{prctl}+0, 22, 2, $program, 0, 0) == 0 or fail("seccomp");
  %ENV = map { substr($_, ${ENV_PREFIX.length}) => $ENV{$_} } grep { index($_, "${ENV_PREFIX}") == 0 } keys %ENV;
  exec { $ARGV[0] } @ARGV or fail("exec $ARGV[0]");
}
close $tell;
open(STDOUT, ">", "/dev/null");
syswrite $status, "{\\"child-pid\\": $child}\\n";
my $words = do { local $/; <$told> };
my $end;
eval {
  # wait begins again after a signal unless its handler leaves it.
  local $SIG{TERM} = sub { $stop = 1; die };
  while (!$stop) { my $pid = wait; last if $pid < 0; if ($pid == $child) { $end = $?; last } }
};
$SIG{TERM} = "IGNORE";
sub below {
  my @found;
  opendir(my $tasks, "/proc/$_[0]/task") or return;
  for my $task (grep /^\\d+$/, readdir $tasks) {
    open(my $h, "<", "/proc/$_[0]/task/$task/children") or next;
    for my $pid (split " ", <$h> // "") { push @found, $pid, below($pid) }
  }
  return @found;
}
for (;;) {
  my @left = below($$);
  last unless @left;
  kill 9, @left;
  while ((my $pid = waitpid -1, 1) > 0) { $end = $? if $pid == $child && !$stop }
  select undef, undef, undef, 0.001;
}
if (defined $words && length $words) { syswrite STDERR, $words; exit 111 }
if (defined $end && !$stop) { my $code = $end & 127 ? 128 + ($end & 127) : $end >> 8; syswrite $status, "{\\"exit-code\\": $code}\\n" }
`;

/** The launcher's environment for a command's: under other names, since `PERL5OPT` or `LD_PRELOAD` would change what stands outside the fence. */
export function landlockEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [`${ENV_PREFIX}${name}`, value]));
}

const CALLS: Readonly<Record<string, string>> = {
  x64: 'create=444,add=445,restrict=446,prctl=157,setsid=112,setgroups=116,setresgid=119,setresuid=117',
  arm64: 'create=444,add=445,restrict=446,prctl=167,setsid=157,setgroups=159,setresgid=149,setresuid=147',
};

export interface LandlockLaunch {
  perl: string;
  /** null: as belay's own user. */
  become: { uid: number; gid: number } | null;
  ruleset: Buffer;
  rules: readonly LandlockRule[];
  filterFile: string;
  command: readonly string[];
}

/** Program and arguments for one command. */
export function landlockArgs({ perl, become, ruleset, rules, filterFile, command }: LandlockLaunch): string[] {
  return [
    perl,
    '-e',
    LAUNCH_SCRIPT,
    '--',
    CALLS[process.arch] ?? '',
    String(become?.uid ?? -1),
    String(become?.gid ?? -1),
    ruleset.toString('hex'),
    filterFile,
    String(rules.length + 1),
    // A named pipe without a name, that /dev/stdout and /dev/stderr open anew.
    ...[String(WRITE_FILE), '/proc/self/fd/1'],
    ...rules.flatMap(({ path, access }) => [String(access), path]),
    ...command,
  ];
}

/** Version of Landlock that this kernel has; 0 where it has none or it is switched off. */
export async function loadLandlockAbi(perl: string): Promise<number> {
  const script = 'my $abi = syscall(444, 0, 0, 1); print $abi > 0 ? $abi : 0';
  const { stdout } = await promisify(execFile)(perl, ['-e', script], { env: {}, timeout: 5_000 });
  return Number(stdout);
}
