import { RunBlockedError } from '../errors.ts';
import type { RunningServices, ServicesStart } from '../verify/index.ts';
import { type KeptService, keepUp, type ServiceSite } from './keep-up.ts';
import { planAgentMounts } from './mounts.ts';
import type { RunContext } from './run-context.ts';

/** Starts the policy's services of a phase in turn: each may use those before it. Those that are up are ended when one fails. */
export async function startServices(
  phase: 'agent' | 'verify',
  site: Omit<ServiceSite, 'signal'>,
): Promise<ServicesStart> {
  const { context } = site;
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, context.stop]);
  const kept: KeptService[] = [];
  const running: RunningServices = {
    async stop() {
      over.abort();
      await Promise.all(kept.map(({ ended }) => ended));
    },
  };
  for (const service of context.policy.services.filter(({ phases }) => phases.includes(phase))) {
    const one = keepUp(service, { ...site, signal });
    kept.push(one);
    const reason = await one.ready;
    if (reason === null) continue;
    await running.stop();
    return context.stop.aborted ? { kind: 'cancelled' } : { kind: 'failed', reason };
  }
  return { kind: 'up', services: running };
}

/** The agent's services; `missing` says which one its change (`touched`) has broken. Before there is one, that ends the run. */
export async function startAgentServices(
  context: RunContext,
  { touched }: { touched: boolean },
): Promise<{ services: RunningServices; missing: string | null }> {
  const none = { stop: async () => undefined };
  if (context.policy.services.length === 0) return { services: none, missing: null };
  const site = {
    context,
    dir: context.workspace.dir,
    mounts: await planAgentMounts(context.mounts)(),
    phase: 'agent',
  } as const;
  const start = await startServices('agent', { ...site, secret: false });
  if (start.kind === 'up') return { services: start.services, missing: null };
  if (start.kind === 'failed' && !touched) throw new RunBlockedError('setup_failed', start.reason);
  return { services: none, missing: start.kind === 'failed' ? start.reason : null };
}
