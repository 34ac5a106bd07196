import { existsSync, lstatSync, statSync } from 'node:fs';
import { isWithin } from './is-within.ts';
import { LIMIT_CORES } from './limit-dumps.ts';

/**
 * Run by root in place of bubblewrap, before it: in a mount namespace of its own it puts every source of a mount below `stage`,
 * with root's files shown as the command user's (idmapped mounts, Linux ≥ 5.12), becomes that user and gives way to the command.
 * So commands never run as uid 0, what they create belongs to root outside, and a closed parent folder is no obstacle.
 * Perl, because it is on every Debian and Ubuntu image, starts in 2 ms and can call the kernel without an add-on.
 *
 * Arguments: system call numbers, stage, uid, gid, descriptor of the user namespace, count and (mode, path) of sources, the command.
 * Modes: `map` or fail, `try` to map (sources that are only read), `plain`.
 */
const STAGE_SCRIPT = `
use strict;
${LIMIT_CORES};
sub fail { print STDERR "belay stage: $_[0]: $!\\n"; exit 111 }
my %call = split /[=,]/, shift;
my ($stage, $uid, $gid, $map) = splice @ARGV, 0, 4;
my @sources = splice @ARGV, 0, 2 * shift @ARGV;
my ($none, $root, $tmpfs, $options, $empty) = ("none", "/", "tmpfs", "mode=755,size=1m", "");
syscall($call{unshare}+0, 0x20000) == 0 or fail("mount namespace");
syscall($call{mount}+0, $none, $root, 0, 0x44000, 0) == 0 or fail("private mounts");
my @trees;
for (my $i = 0; $i < @sources; $i += 2) {
  my ($mode, $path) = @sources[$i, $i + 1];
  my $how = pack("QQQ", 0x280000, 0, 4);
  my $fd = syscall($call{openat2}+0, -100, $path, $how, 24);
  $fd >= 0 or fail("open $path");
  my $tree = syscall($call{open_tree}+0, $fd, $empty, 0x1000 | 0x8000 | 0x80000 | 1);
  $tree >= 0 or fail("clone $path");
  if ($mode ne "plain") {
    my $attr = pack("QQQQ", 0x100000, 0, 0, $map);
    syscall($call{mount_setattr}+0, $tree, $empty, 0x1000 | 0x8000, $attr, 32) == 0 or $mode eq "try" or fail("idmap $path");
  }
  push @trees, $tree;
}
my @folders = map { -d $sources[2 * $_ + 1] } 0 .. $#trees;
syscall($call{mount}+0, $tmpfs, $stage, $tmpfs, 6, $options) == 0 or fail("tmpfs on $stage");
for my $i (0 .. $#trees) {
  my $to = "$stage/$i";
  if ($folders[$i]) { mkdir $to or fail($to) } else { open(my $h, ">", $to) or fail($to); close $h }
  syscall($call{move_mount}+0, $trees[$i], $empty, -100, $to, 4) == 0 or fail("mount $to");
}
if ($map >= 0) { open(my $h, "<&=", $map) or fail("map"); close $h }
syscall($call{setgroups}+0, 0, 0) == 0 or fail("groups");
syscall($call{setresgid}+0, $gid+0, $gid+0, $gid+0) == 0 or fail("gid");
syscall($call{setresuid}+0, $uid+0, $uid+0, $uid+0) == 0 or fail("uid");
exec { $ARGV[0] } @ARGV or fail("exec $ARGV[0]");
`;

const CALLS: Readonly<Record<string, string>> = {
  x64: 'unshare=272,mount=165,openat2=437,open_tree=428,mount_setattr=442,move_mount=429,setgroups=116,setresgid=119,setresuid=117',
  arm64:
    'unshare=97,mount=40,openat2=437,open_tree=428,mount_setattr=442,move_mount=429,setgroups=159,setresgid=149,setresuid=147',
};

/** Folders to cover in the private mount namespace; whatever they hold is out of reach for bubblewrap itself, no more. */
const STAGES = ['/mnt', '/media', '/srv', '/home', '/tmp'];

export interface StageUser {
  uid: number;
  gid: number;
  perl: string;
  /** Where the sources are put; see `chooseStage`. */
  stage: string;
  /** Descriptor in the child of the user namespace whose map is used; null: nothing is mapped. */
  mapFd: number | null;
}

export interface StageSource {
  path: string;
  access: 'write' | 'read';
}

export interface Staged {
  /** Program and arguments to put before bubblewrap's own. */
  prefix: string[];
  /** The paths that are staged. */
  roots: readonly string[];
  locate(hostPath: string): string;
}

export function chooseStage(programs: readonly string[]): string | null {
  return (
    STAGES.find(
      (stage) =>
        existsSync(stage) &&
        !lstatSync(stage).isSymbolicLink() &&
        !programs.some((program) => isWithin(stage, program)),
    ) ?? null
  );
}

export function stageCommand(user: StageUser, sources: readonly StageSource[]): Staged {
  const roots = outermost(sources);
  const modeOf = ({ path, access }: StageSource): string => {
    if (user.mapFd === null || statSync(path).uid !== 0) return 'plain';
    return access === 'write' ? 'map' : 'try';
  };
  const prefix = [
    user.perl,
    '-e',
    STAGE_SCRIPT,
    '--',
    CALLS[process.arch] ?? '',
    ...[user.stage, String(user.uid), String(user.gid), String(user.mapFd ?? -1)],
    ...[String(roots.length), ...roots.flatMap((root) => [modeOf(root), root.path])],
  ];
  const locate = (hostPath: string): string => {
    const index = roots.findIndex(({ path }) => isWithin(path, hostPath));
    const root = roots[index];
    return root === undefined
      ? hostPath
      : `${user.stage}/${index}${root.path === '/' ? hostPath : hostPath.slice(root.path.length)}`;
  };
  return { prefix, roots: roots.map(({ path }) => path), locate };
}

/** In place of `prefix`, where the sources are staged in the mount namespace of descriptor `fd` (of the child). */
export function enterStage({ uid, gid }: StageUser, nsenter: string, fd: number): string[] {
  return [nsenter, `--mount=/proc/self/fd/${fd}`, '--setgid', String(gid), '--setuid', String(uid), '--'];
}

/** A source inside another one is reached through it, with the stronger of both accesses. */
function outermost(sources: readonly StageSource[]): StageSource[] {
  const roots: StageSource[] = [];
  for (const source of sources.toSorted((a, b) => a.path.length - b.path.length)) {
    const index = roots.findIndex(({ path }) => isWithin(path, source.path));
    const root = roots[index];
    if (root === undefined) roots.push(source);
    else if (source.access === 'write') roots[index] = { path: root.path, access: 'write' };
  }
  return roots;
}
