import type { Denial, Emit, Phase } from '../events/index.ts';
import type { NetworkDecision } from '../sandbox/index.ts';

/** Tells what the proxy let through and what it did not. */
export interface NetworkLog {
  /** For one command: hands it to the sandbox as `onNetwork`, and waits for `told` when the command has ended. */
  watch(where: { phase: Phase; turn: number | null }): NetworkWatch;
  /** Of the whole run, for its result. */
  readonly denials: readonly Denial[];
}

export interface NetworkWatch {
  onNetwork(decision: NetworkDecision): void;
  /** What was denied, in words for whoever reads the command's output; resolves when every event is out. */
  told(): Promise<readonly string[]>;
}

/** Of the result; the events have them all. */
const MOST_DENIALS = 200;

export function createNetworkLog({ emit, nextItemId }: { emit: Emit; nextItemId(): string }): NetworkLog {
  const denials: Denial[] = [];
  return {
    denials,
    watch({ phase, turn }) {
      const events: Promise<void>[] = [];
      const denied: string[] = [];
      return {
        onNetwork(decision) {
          const { host, port, rule, reason } = decision;
          if (decision.allowed) {
            events.push(emit({ type: 'network.allowed', turn, phase, host, port, rule }));
            return;
          }
          const action = `connect to ${host}${port === null ? '' : `:${port}`}`;
          denied.push(`${action}: ${reason}`);
          if (denials.length < MOST_DENIALS) denials.push({ action, rule, reason });
          const item = {
            id: nextItemId(),
            type: 'denial',
            status: 'declined',
            action,
            rule,
            reason,
            duration_ms: 0,
          } as const;
          events.push(emit({ type: 'item.completed', turn, phase, item }));
        },
        async told() {
          await Promise.all(events);
          return denied;
        },
      };
    },
  };
}
