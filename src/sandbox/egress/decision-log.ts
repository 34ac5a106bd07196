import type { NetworkDecision } from './decide-target.ts';

/** Tells each decision of a command once, and no more than so many of either kind. */
export interface DecisionLog {
  tell(decision: NetworkDecision): void;
  /** Says how many were not told. */
  end(): void;
}

const MOST_OF_A_KIND = 100;

export function createDecisionLog(onDecision: (decision: NetworkDecision) => void): DecisionLog {
  const seen = { allowed: new Set<string>(), denied: new Set<string>() };
  const untold = { allowed: 0, denied: 0 };
  return {
    tell(decision) {
      const kind = decision.allowed ? 'allowed' : 'denied';
      const key = JSON.stringify([decision.host, decision.port, decision.rule, decision.reason]);
      if (seen[kind].has(key)) return;
      if (seen[kind].size >= MOST_OF_A_KIND) {
        untold[kind]++;
        return;
      }
      seen[kind].add(key);
      onDecision(decision);
    },
    end() {
      for (const kind of ['allowed', 'denied'] as const) {
        if (untold[kind] === 0) continue;
        const reason = `${untold[kind]} more connections of this command are not told`;
        onDecision({ allowed: kind === 'allowed', host: '*', port: null, rule: 'network.allow', reason });
        untold[kind] = 0;
      }
    },
  };
}
