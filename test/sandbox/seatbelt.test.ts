import { describe, expect, it } from 'vitest';
import { platformRefusal } from '../../src/sandbox/probe-sandbox.ts';
import { judgeSeatbeltProbe } from '../../src/sandbox/probe-script.ts';
import { renderSeatbeltProfile } from '../../src/sandbox/seatbelt-profile.ts';
import { mountOf } from './fixture.ts';

const VIEW = {
  mounts: [
    mountOf('/private/tmp/ws', 'write'),
    mountOf('/private/tmp/ws/.git', 'read'),
    mountOf('/private/tmp/ws/.env', 'hidden'),
  ],
  home: '/private/tmp/run/home',
  temporary: '/private/tmp/run/tmp',
  readable: ['/Users/me/.cargo'],
  proxyPort: null,
};
const lines = (changes: Partial<typeof VIEW> | { proxyPort: number } = {}): string[] =>
  renderSeatbeltProfile({ ...VIEW, ...changes })
    .trimEnd()
    .split('\n');

/** What the last rule that names a place says of an operation there; rules are read as the kernel does, the last match wins. */
function verdict(profile: readonly string[], operation: string, place: string): string {
  const rules = profile.flatMap((line) => {
    const match = /^\((allow|deny) (.*?)(?: \((subpath|literal|regex) #?"(.*)"\))?\)$/.exec(line);
    return match === null
      ? []
      : [{ answer: match[1], operations: (match[2] ?? '').split(' '), shape: match[3], at: match[4] ?? '' }];
  });
  const names = (one: string): boolean =>
    one === 'default' || one === operation || (one.endsWith('*') && operation.startsWith(one.slice(0, -1)));
  const covers = ({ shape, at }: { shape: string | undefined; at: string }): boolean =>
    shape === undefined ||
    (shape === 'regex'
      ? new RegExp(at).test(place)
      : place === at || (shape === 'subpath' && place.startsWith(`${at}/`)));
  return rules.findLast((rule) => rule.operations.some(names) && covers(rule))?.answer ?? 'deny';
}

describe('the profile of a command on macOS', () => {
  it('denies what it does not name, the network and homes among it', () => {
    const profile = lines();
    expect(profile.slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
    expect(profile.filter((line) => line.includes('network'))).toEqual([]);
    const places = ['/Users/me/.ssh/id', '/Users/me/.npmrc', '/private/var/run/docker.sock', '/private/tmp/other'];
    expect(places.map((place) => verdict(profile, 'file-read-data', place))).toEqual(places.map(() => 'deny'));
  });

  it('gives the workspace, HOME and the folder for temporary files to write, and the system to read', () => {
    const profile = lines();
    for (const place of ['/private/tmp/ws/a/b', '/private/tmp/run/home/x', '/private/tmp/run/tmp/x'])
      expect([verdict(profile, 'file-read-data', place), verdict(profile, 'file-write-data', place)]).toEqual([
        'allow',
        'allow',
      ]);
    for (const place of ['/usr/bin/git', '/Users/me/.cargo/bin/cargo'])
      expect([verdict(profile, 'file-read-data', place), verdict(profile, 'file-write-data', place)]).toEqual([
        'allow',
        'deny',
      ]);
  });

  it('covers what is protected and hidden, and keeps what is above it in its place', () => {
    const profile = lines({
      mounts: [mountOf('/w', 'write'), mountOf('/w/a/rule', 'read'), mountOf('/w/.env', 'hidden')],
    });
    expect([verdict(profile, 'file-read-data', '/w/a/rule'), verdict(profile, 'file-write-data', '/w/a/rule')]).toEqual(
      ['allow', 'deny'],
    );
    expect([verdict(profile, 'file-write-unlink', '/w/a'), verdict(profile, 'file-write-create', '/w/a/new')]).toEqual([
      'deny',
      'allow',
    ]);
    expect([verdict(profile, 'file-read-data', '/w/.env'), verdict(profile, 'file-write-data', '/w/.env')]).toEqual([
      'deny',
      'deny',
    ]);
    expect(verdict(profile, 'file-write-create', '/w/sub/.git/hooks/pre-commit')).toBe('deny');
  });

  it('lets a command reach the proxy, and nothing else', () => {
    expect(lines({ proxyPort: 3128 }).filter((line) => line.includes('network'))).toEqual([
      '(allow network-outbound (remote ip "localhost:3128"))',
    ]);
  });

  it('takes a path for a path, whatever it holds', () => {
    const place = '/w/a") (allow default) ("\\';
    const profile = lines({ mounts: [mountOf(place, 'write')] });
    expect(profile.filter((line) => line.includes('allow default'))).toEqual([
      '(allow file-read* file-write* (subpath "/w/a\\") (allow default) (\\"\\\\"))',
    ]);
    expect(() => lines({ mounts: [mountOf('/w/a\n(allow default)', 'write')] })).toThrow('control characters');
  });
});

it('a probe on macOS takes nothing less than all of it for a proof', () => {
  expect(judgeSeatbeltProbe('read=no net=no wrote=\n')).toBeNull();
  const bad = ['fine\n', 'read=yes net=no wrote=\n', 'read=no net=yes wrote=\n', 'read=no net=no wrote= /tmp/x\n'];
  expect(bad.map(judgeSeatbeltProbe)).toEqual(bad.map(() => expect.any(String)));
});

it('a platform without the fence demanded is refused with the reason and a way out', () => {
  expect([
    platformRefusal('linux', 'any'),
    platformRefusal('darwin', 'any'),
    platformRefusal('darwin', 'seatbelt'),
  ]).toEqual([null, null, null]);
  for (const demanded of ['any', 'bubblewrap', 'seatbelt'] as const)
    expect(platformRefusal('win32', demanded)).toMatch(/^Windows has nothing .*WSL 2/);
  expect(platformRefusal('linux', 'seatbelt')).toContain('macOS');
  expect(platformRefusal('darwin', 'bubblewrap')).toContain('external');
  expect(platformRefusal('freebsd', 'any')).toContain('external');
});
