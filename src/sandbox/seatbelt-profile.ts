import type { Mount } from './sandbox.ts';

/** What a profile is made of. Paths are real ones: the kernel sees `/private/var`, never `/var`. */
export interface SeatbeltView {
  mounts: readonly Mount[];
  /** The command's own HOME and folder for temporary files. */
  home: string;
  temporary: string;
  /** Folders to read and run programs from, beyond the system's own. */
  readable: readonly string[];
  /** Port of belay's proxy on the loopback; null: no network at all. */
  proxyPort: number | null;
}

/** Readable by every process of macOS: libraries, programs, time zones, and what `dyld` and Xcode's tools need. */
const SYSTEM = [
  '/System',
  '/usr',
  '/bin',
  '/sbin',
  '/Library/Apple',
  '/Library/Developer/CommandLineTools',
  '/Library/Java',
  '/Applications/Xcode.app',
  '/opt/homebrew',
  '/private/etc',
  '/private/var/db/timezone',
  '/private/var/db/dyld',
  '/private/var/select',
  '/dev',
];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/fd', '/dev/stdout', '/dev/stderr'];

/**
 * The profile of one command for `sandbox-exec -p`, in the language of sandbox(7): the last rule that matches decides, so rules go from
 * outer to inner like mounts. Everything is denied that is not named: reading of files too, so homes need no rule.
 */
export function renderSeatbeltProfile({ mounts, home, temporary, readable, proxyPort }: SeatbeltView): string {
  const moved = mounts.find(({ from, to, access }) => access !== 'hidden' && from !== to);
  if (moved !== undefined) throw new Error(`bug: ${moved.from} cannot be shown at ${moved.to} without mounts`);
  const lines = [
    '(version 1)',
    '(deny default)',
    '(allow process-exec)',
    '(allow process-fork)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    '(allow file-read* (literal "/"))',
    ...[...SYSTEM, ...readable].map((folder) => `(allow file-read* (subpath ${quote(folder)}))`),
    ...DEVICES.map((device) => `(allow file-read* file-write-data file-ioctl (subpath ${quote(device)}))`),
    ...[home, temporary].map((folder) => `(allow file-read* file-write* (subpath ${quote(folder)}))`),
    ...mounts.flatMap(rulesOf),
    // Whatever the rules above give: neither hooks nor configuration of git, wherever.
    '(deny file-write* (regex #"/\\.git(/|$)"))',
    '(deny file-write-setugid)',
    ...(proxyPort === null
      ? []
      : [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`, '(allow system-socket)']),
  ];
  return `${lines.join('\n')}\n`;
}

function rulesOf({ from, access }: Mount): string[] {
  const place = `(subpath ${quote(from)})`;
  if (access === 'write') return [`(allow file-read* file-write* ${place})`];
  if (access === 'hidden') return [`(deny file-read* file-write* ${place})`];
  return [`(allow file-read* ${place})`, `(deny file-write* ${place})`, ...ancestorsOf(from)];
}

/** A folder above what is protected may not be moved out of the way. */
function ancestorsOf(place: string): string[] {
  const names = place.split('/').slice(1, -1);
  return names.map(
    (_, index) => `(deny file-write-unlink (literal ${quote(`/${names.slice(0, index + 1).join('/')}`)}))`,
  );
}

/** A string of the profile's language. A path that would end it, or its line, cannot be written. */
function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new Error(`a path with control characters cannot be fenced: ${JSON.stringify(text)}`);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
