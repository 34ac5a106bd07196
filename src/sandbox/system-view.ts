import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isExecutable } from './is-executable.ts';
import { isWithin } from './is-within.ts';

/** What every command sees of the machine, read-only: an allowlist, because a socket or token that is not there needs no rule. */
export interface SystemView {
  /** Folders of the system, bound from and to the same path. */
  folders: readonly string[];
  /** Links of a merged /usr: [target, path]. */
  links: readonly (readonly [string, string])[];
  /** The policy's `readable` paths and, where it would be out of sight, the Node installation. Sources are real paths. */
  extras: readonly { from: string; to: string }[];
  /** Folders below `folders` that hold a CI runner's credentials: shown empty. */
  masked: readonly string[];
  /** PATH of the commands. */
  path: string;
}

interface ViewOptions {
  /** PATH and HOME of the harness. */
  env: Readonly<Record<string, string | undefined>>;
  readable: readonly string[];
  /** Path of the running Node. */
  nodePath: string;
}

const ROOT_FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
  '/sys/devices/system/cpu',
];
const DEFAULT_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** Files that mark the folder of a self-hosted runner. */
const RUNNER_MARKS = ['.credentials', '.runner'];

export function loadSystemView({ env, readable, nodePath }: ViewOptions): SystemView {
  const present = ROOT_FOLDERS.filter((folder) => existsSync(folder));
  const links = present.filter((folder) => lstatSync(folder).isSymbolicLink());
  const folders = present.filter((folder) => !links.includes(folder));
  const { HOME: home, PATH: searchPath = '' } = env;
  const extras = readable.map((entry) => expandHome(entry, home)).flatMap((entry) => resolveReadable(entry));
  const isVisible = (file: string): boolean =>
    [...folders, ...links, ...extras.map(({ to }) => to)].some((root) => isWithin(root, file));

  const entries = searchPath.split(':').filter((entry) => path.isAbsolute(entry) && existsSync(entry));
  const found = entries.find((entry) => isExecutable(path.join(entry, 'node')));
  const node = installedNode(found, nodePath);
  const searched: string[] = [];
  if (found === undefined && !isVisible(node)) searched.push(path.dirname(node));
  for (const entry of entries) {
    if (entry === found && !(isVisible(entry) && isVisible(node))) searched.push(path.dirname(node));
    else if (isVisible(entry) && isVisible(realpathSync(entry))) searched.push(entry);
  }
  if (!isVisible(node)) {
    const from = nodePrefix(node, home);
    extras.push({ from, to: from });
  }
  return {
    folders,
    links: links.map((link) => [readlinkSync(link), link]),
    extras,
    masked: present.includes('/opt') ? runnerFolders('/opt') : [],
    path: [...new Set([...searched, ...DEFAULT_PATH])].join(':'),
  };
}

function expandHome(entry: string, home: string | undefined): string {
  return home !== undefined && (entry === '~' || entry.startsWith('~/'))
    ? path.join(home, entry.slice(1))
    : path.resolve(entry);
}

/** Like bubblewrap's `-try`: a toolchain folder that this machine lacks is no error. */
function resolveReadable(entry: string): { from: string; to: string }[] {
  if (!existsSync(entry)) return [];
  const from = realpathSync(entry);
  return from === entry
    ? [{ from, to: from }]
    : [
        { from, to: from },
        { from, to: entry },
      ];
}

/** The binary behind `node` outside; a version manager's shim stands for the Node that belay runs on. */
function installedNode(entry: string | undefined, nodePath: string): string {
  const real = entry === undefined ? null : realpathSync(path.join(entry, 'node'));
  return real !== null && path.basename(real) === 'node' ? real : realpathSync(nodePath);
}

/** The installation with npm and its modules when it stands alone; only the binary when its folder holds other things, such as a home. */
function nodePrefix(node: string, home: string | undefined): string {
  const prefix = path.dirname(path.dirname(node));
  const standsAlone = path.basename(path.dirname(node)) === 'bin' && existsSync(path.join(prefix, 'lib/node_modules'));
  return standsAlone && !(home !== undefined && isWithin(prefix, home)) ? prefix : node;
}

function runnerFolders(parent: string): string[] {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(parent, entry.name))
    .filter((folder) => RUNNER_MARKS.some((mark) => existsSync(path.join(folder, mark))));
}
