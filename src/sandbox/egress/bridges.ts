import { findSystemProgram } from '../find-system-program.ts';
import type { MountStep } from '../mount-plan.ts';
import type { SandboxedCommand } from '../sandbox.ts';
import type { CommandNetwork, ServedPort } from './command-network.ts';
import { listeningPorts } from './listening-ports.ts';

/** What leads out of the fences of one sandbox. */
export interface BridgeSetup {
  /** null: perl is missing, and nothing leads out. */
  perl: string | null;
  /** `sandbox.services`. */
  hostPorts: readonly string[];
  /** The harness's own environment, for the proxy that stands in its way. */
  env: Readonly<Record<string, string | undefined>>;
}

/** What one command needs in its fence for it. */
export interface CommandBridge {
  steps: readonly MountStep[];
  overlays: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string>>;
  program: readonly string[];
  /** How to find the first process of the fence, once it runs. */
  attach(firstPid: () => number | null): void;
  isReady(): boolean;
  close(): Promise<void>;
}

export interface Bridges {
  /** null: nothing leads out of this command's fence. */
  open(command: SandboxedCommand): Promise<CommandBridge | null>;
}

interface Serving {
  network: CommandNetwork;
  firstPid(): number | null;
}

/** Why nothing can lead out of a fence here; null when it can. */
export async function bridgeFault(env: BridgeSetup['env']): Promise<string | null> {
  if (findSystemProgram('perl') === null)
    return 'perl is not installed, which leads out of the sandbox to the hosts, ports and services that the policy allows: install it (`apt-get install -y perl-base`, `apk add perl`).';
  const { outwardProxyFault } = await import('./outward-proxy.ts');
  return outwardProxyFault(env);
}

export function createBridges(setup: BridgeSetup, parent: string): Bridges {
  const serving = new Set<Serving>();
  return {
    async open(command) {
      const served = [...serving].flatMap(servedBy);
      const serves = command.serves === true;
      const isClosed = command.network.mode === 'none' && setup.hostPorts.length === 0 && served.length === 0;
      if (isClosed && !serves) return null;
      if (setup.perl === null) throw new Error('perl is missing');
      const { INNER_SOCKETS, openCommandNetwork } = await import('./command-network.ts');
      const { outwardProxy } = await import('./outward-proxy.ts');
      const { lookup } = await import('node:dns/promises');
      const network = await openCommandNetwork({
        parent,
        perl: setup.perl,
        network: command.network,
        hostPorts: setup.hostPorts,
        served,
        serves,
        resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
        upstreamFor: (url) => outwardProxy(url, setup.env),
        onDecision: (decision) => command.onNetwork?.(decision),
      });
      let ended: Serving | null = null;
      return {
        steps: [{ kind: 'read', from: network.dir, to: INNER_SOCKETS }],
        overlays: network.hostsFile === null ? {} : { '/etc/hosts': network.hostsFile },
        env: network.env,
        program: network.bridge,
        isReady: () => network.isReady(),
        attach(firstPid) {
          if (!serves) return;
          ended = { network, firstPid };
          serving.add(ended);
        },
        async close() {
          if (ended !== null) serving.delete(ended);
          await network.close();
        },
      };
    },
  };
}

function servedBy({ network, firstPid }: Serving): ServedPort[] {
  const pid = firstPid();
  const { lent, ownPorts } = network;
  if (pid === null || lent === null) return [];
  return listeningPorts(pid)
    .filter((port) => !ownPorts.includes(port))
    .map((port) => ({ port, from: lent }));
}
