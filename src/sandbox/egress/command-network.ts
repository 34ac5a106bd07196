import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { type NetworkAccess, parseHostPort } from '../../policy/index.ts';
import { BRIDGE_SCRIPT } from './bridge-script.ts';
import type { NetworkDecision, Resolve } from './decide-target.ts';
import { createDecisionLog } from './decision-log.ts';
import { joinSockets, listenAt, type SocketFile } from './join-sockets.ts';
import { createLentConnections, type LentConnections } from './lent-connections.ts';
import { PROXY_PORT, proxyVariables } from './proxy-variables.ts';
import type { UpstreamProxy } from './upstream.ts';

/** A port of another fence's loopback. */
export interface ServedPort {
  port: number;
  from: LentConnections;
}

export interface CommandNetworkOptions {
  /** A folder that only belay may list; what is made in it goes with the command. */
  parent: string;
  perl: string;
  network: NetworkAccess;
  /** `sandbox.services`: ports of the host. */
  hostPorts: readonly string[];
  served: readonly ServedPort[];
  /** Whether others are to reach the ports that this command listens on. */
  serves: boolean;
  resolve: Resolve;
  upstreamFor(url: URL): UpstreamProxy | null;
  onDecision(decision: NetworkDecision): void;
}

/** What one command has beside an empty network namespace. */
export interface CommandNetwork {
  /** Host folder with the sockets, to be shown at `INNER_SOCKETS`. */
  dir: string;
  /** A program to run inside before the command. */
  bridge: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Host path of the file to show as /etc/hosts; null: the system's. */
  hostsFile: string | null;
  /** Whether the bridge has said that it listens. */
  isReady(): boolean;
  /** Ports of the fence's loopback that belay's own bridge listens on. */
  ownPorts: readonly number[];
  lent: LentConnections | null;
  close(): Promise<void>;
}

export const INNER_SOCKETS = '/run/belay';
/** Room that the kernel has for the path of a socket. */
const MOST_PATH_BYTES = 107;
const HAS_IPV6 = '/proc/net/if_inet6';

/** One port inside, and what leads on from it. */
interface Door {
  address: string;
  port: number;
  name: string;
}

/** Opens the sockets that lead out of one command's fence, and only those that its policy names. */
export async function openCommandNetwork(options: CommandNetworkOptions): Promise<CommandNetwork> {
  const dir = path.join(options.parent, `net-${randomBytes(8).toString('hex')}`);
  mkdirSync(dir);
  // Another user's command passes and connects; the parent's name is known to belay alone.
  chmodSync(dir, 0o755);
  const open: SocketFile[] = [];
  const log = createDecisionLog(options.onDecision);
  const at = (name: string): string => path.join(dir, name);
  let isReady = false;
  const close = async (): Promise<void> => {
    await Promise.all(open.map((file) => file.close()));
    rmSync(dir, { recursive: true, force: true });
    log.end();
  };
  try {
    if (Buffer.byteLength(at('host-000')) > MOST_PATH_BYTES)
      throw Object.assign(new Error(`TMPDIR is too long for a socket: ${dir}`), { code: 'ENAMETOOLONG' });
    writeFor(at('bridge'), BRIDGE_SCRIPT);
    const doors: Door[] = [];
    const names = new Map<string, string>();
    open.push(await listenAt(at('control'), (socket) => socket.once('data', () => (isReady = true))));
    if (options.network.mode === 'allow') {
      const { createEgressProxy } = await import('./egress-proxy.ts');
      const { resolve, upstreamFor } = options;
      const allow = options.network.hosts;
      open.push(
        await createEgressProxy({ socketPath: at('egress'), allow, resolve, upstreamFor, onDecision: log.tell }),
      );
      doors.push({ address: '127.0.0.1', port: PROXY_PORT, name: 'egress' });
    }
    for (const [index, written] of options.hostPorts.entries()) {
      const target = parseHostPort(written);
      if (target === null) continue;
      const { host, port } = target;
      const name = `host-${index}`;
      open.push(
        await listenAt(at(name), (socket) =>
          joinSockets(socket, connect({ host: host.text, port, allowHalfOpen: true })),
        ),
      );
      const address = innerAddress(host.text, names);
      doors.push({ address, port, name });
    }
    for (const { port, from } of options.served) {
      const name = `port-${port}`;
      if (doors.some((door) => door.port === port && door.address === '127.0.0.1')) continue;
      open.push(await listenAt(at(name), (socket) => void from.take(port).then((other) => joinSockets(socket, other))));
      for (const address of existsSync(HAS_IPV6) ? ['127.0.0.1', '::1'] : ['127.0.0.1'])
        doors.push({ address, port, name });
    }
    const lent = options.serves ? await createLentConnections(at('lend')) : null;
    if (lent !== null) open.push(lent);
    return {
      dir,
      bridge: [
        ...['/usr/bin/env', '-i', options.perl, `${INNER_SOCKETS}/bridge`, INNER_SOCKETS],
        ...doors.flatMap((door) => ['listen', door.address, String(door.port), door.name]),
        ...(lent === null ? [] : ['lend', 'lend']),
      ],
      env: options.network.mode === 'allow' ? proxyVariables(options.network.hosts, [...names.keys()]) : {},
      hostsFile: names.size === 0 ? null : writeHosts(at('hosts'), names),
      isReady: () => isReady,
      ownPorts: doors.map(({ port }) => port),
      lent,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A loopback address keeps its spelling; another name gets an address of its own, so that two may have the same port. */
function innerAddress(host: string, names: Map<string, string>): string {
  if (host === 'localhost') return '127.0.0.1';
  if (host === '::1' || host.startsWith('127.')) return host;
  const address = names.get(host) ?? `127.77.0.${names.size + 1}`;
  names.set(host, address);
  return address;
}

function writeHosts(file: string, names: ReadonlyMap<string, string>): string {
  const before = existsSync('/etc/hosts') ? readFileSync('/etc/hosts', 'utf8') : '127.0.0.1 localhost\n';
  // The first line that has a name counts.
  return writeFor(file, `${[...names].map(([name, address]) => `${address} ${name}\n`).join('')}${before}`);
}

/** For whoever the command runs as, whatever belay's umask. */
function writeFor(file: string, text: string): string {
  writeFileSync(file, text);
  chmodSync(file, 0o644);
  return file;
}
