import { createHostList } from './host-list.ts';
import { parseHostPort } from './host-port.ts';
import type { NetworkAccess, Policy } from './policy.ts';
import { printable } from './printable.ts';

/** What the policy says of a connection, for each kind of command. */
export interface HostExplanation {
  host: string;
  port: number;
  decisions: readonly { commands: string; decision: 'allow' | 'deny'; rule: string }[];
}

/** null: `written` is no `host:port`. Names are not resolved here: what one resolves to can still be refused. */
export function explainHost(written: string, policy: Policy): HostExplanation | null {
  const target = parseHostPort(written);
  if (target === null) return null;
  const { host, port } = target;
  const { sandbox, setup, verify } = policy;
  const decide = (commands: string, network: NetworkAccess) => {
    const rule = network.mode === 'none' ? null : createHostList(network.hosts).ruleFor(host, port);
    if (rule !== null) return { commands, decision: 'allow' as const, rule };
    return { commands, decision: 'deny' as const, rule: network.mode === 'none' ? 'network: none' : 'no entry' };
  };
  return {
    host: host.text,
    port,
    decisions: [
      decide('agent', sandbox.network),
      ...setup.map(({ run, network }) => decide(`setup ${JSON.stringify(run)}`, network)),
      ...verify.checks.map(({ name, network }) => decide(`check ${name}`, network ?? sandbox.network)),
    ],
  };
}

export function renderHostExplanation({ host, port, decisions }: HostExplanation): string {
  const lines = decisions.map(({ commands, decision, rule }) => `  ${decision.padEnd(5)} ${commands}  (${rule})`);
  return `${[`connect to ${host}:${port}`, ...lines].map((line) => printable(line, 1000)).join('\n')}\n`;
}
