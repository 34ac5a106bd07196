import { describe, expect, it } from 'vitest';
import { bubblewrapArgs, type Fence, innerCommand } from '../../src/sandbox/bubblewrap-args.ts';

const FENCE: Fence = {
  view: {
    folders: ['/usr', '/etc'],
    links: [['usr/bin', '/bin']],
    extras: [{ from: '/x/node', to: '/x/node' }],
    masked: ['/opt/runner'],
    path: '/usr/bin',
  },
  steps: [
    { kind: 'write', from: '/ws', to: '/ws' },
    { kind: 'read', from: '/ws/.git', to: '/ws/.git' },
    { kind: 'hidden', to: '/ws/.env', shape: 'file' },
    { kind: 'hidden', to: '/ws/private', shape: 'folder' },
  ],
  home: '/h',
  emptyFile: '/s/empty',
  overlays: { '/etc/passwd': '/s/passwd' },
  masked: [],
  env: { CI: '1', HOME: '/elsewhere', PATH: '/mine' },
  workdir: '/ws/sub',
  bounds: { memoryBytes: 1024 ** 3, processes: 100, fileSizeBytes: 1025, diskBytes: 2 ** 34, outputBytes: 2 ** 32 },
  locate: (hostPath) => (hostPath.startsWith('/ws') ? `/mnt/0${hostPath.slice(3)}` : hostPath),
};

describe('the arguments of bubblewrap', () => {
  it('are these, in this order', () => {
    expect(
      bubblewrapArgs(FENCE)
        .join(' ')
        .split(/ (?=--)/),
    ).toEqual([
      '--unshare-user',
      '--unshare-ipc',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-uts',
      '--unshare-cgroup-try',
      '--die-with-parent',
      '--new-session',
      '--cap-drop ALL',
      '--hostname sandbox',
      '--clearenv',
      '--setenv PATH /mine',
      '--setenv CI 1',
      '--setenv HOME /home/sbx',
      '--setenv TMPDIR /tmp',
      '--ro-bind /usr /usr',
      '--ro-bind /etc /etc',
      '--symlink usr/bin /bin',
      '--ro-bind /s/passwd /etc/passwd',
      ...['--perms 0555', '--size 1048576', '--tmpfs /opt/runner', '--remount-ro /opt/runner'],
      '--dev /dev',
      ...['--perms 1777', '--size 134217728', '--tmpfs /dev/shm'],
      '--remount-ro /dev',
      '--proc /proc',
      '--ro-bind /proc/sys /proc/sys',
      ...['--perms 1777', '--size 536870912', '--tmpfs /tmp'],
      '--dir /run',
      '--dir /var',
      '--symlink ../tmp /var/tmp',
      '--ro-bind /x/node /x/node',
      '--bind /h /home/sbx',
      '--bind /mnt/0 /ws',
      '--ro-bind /mnt/0/.git /ws/.git',
      '--ro-bind /s/empty /ws/.env',
      ...['--perms 0555', '--size 1048576', '--tmpfs /ws/private', '--remount-ro /ws/private'],
      '--remount-ro /',
      '--chdir /ws/sub',
      '--seccomp 3',
      '--json-status-fd 4',
    ]);
  });

  it('end in a shell that sets the limits and then is the shell of the script', () => {
    const [shell, ...rest] = innerCommand(['-c', 'echo "$0"'], { bounds: FENCE.bounds, mark: 'of-a-run' });
    expect(shell).toBe('/bin/bash');
    expect(rest.slice(-3)).toEqual(['bash', '-c', 'echo "$0"']);
    expect(rest[2]).toMatch(/^: of-a-run; /);
    expect(rest[2]).toContain('ulimit -u 100; ulimit -f 2; ');
  });
});
