import type { LoadedPolicy } from '../policy/index.ts';
import type { StoredThread } from '../thread/index.ts';
import type { GivenOptions } from './read-options.ts';

const KEPT = [
  { option: 'turns', told: 'turns', field: 'turns' },
  { option: 'attempts', told: 'attempts', field: 'attempts' },
  { option: 'wall-time', told: 'wall_time_ms', field: 'wallTimeMs' },
  { option: 'tokens', told: 'tokens', field: 'tokens' },
  { option: 'cost-usd', told: 'cost_usd', field: 'costUsd' },
] as const;

/** The limits that the thread's last run told hold on, unless they are given anew: the command line had tightened them. */
export async function keepLimits(
  loaded: LoadedPolicy,
  { thread, options }: { thread: StoredThread; options: GivenOptions },
): Promise<LoadedPolicy> {
  let told: Readonly<Record<string, number>> = {};
  for await (const line of thread.readEvents()) {
    if (line.kind === 'event' && line.event.type === 'run.started') told = line.event.limits ?? told;
  }
  const limits = { ...loaded.policy.limits };
  for (const limit of KEPT) {
    if (!options.has(limit.option)) limits[limit.field] = Math.min(limits[limit.field], told[limit.told] ?? Infinity);
  }
  return { ...loaded, policy: { ...loaded.policy, limits } };
}
