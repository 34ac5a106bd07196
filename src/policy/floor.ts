import { UsageError } from '../errors.ts';
import { FLOOR_RULES } from './floor-rules.ts';
import type { LoadedPolicy } from './policy.ts';

/**
 * The repository's policy made at least as strict as an organisation's. What the floor does not state it leaves alone; what the
 * repository does not state takes the stricter of the default and the floor; what both state and the repository states more
 * loosely is a UsageError that names both places.
 */
export function tightenByFloor(own: LoadedPolicy, floor: LoadedPolicy): LoadedPolicy {
  let { policy } = own;
  const origins = new Map(own.origins);
  const conflicts: string[] = [];
  for (const { key, tighten } of FLOOR_RULES) {
    if (!isStated(floor, key)) continue;
    const stated = isStated(own, key);
    const tightened = tighten(policy, floor.policy, stated);
    if (tightened === null) {
      const at = placeOf(own, key);
      conflicts.push(
        `${at}: \`${key}\` is looser than the policy floor's at ${placeOf(floor, key)}; expected at least as strict a value`,
      );
    } else {
      if (!stated && tightened !== policy) origins.set(key, 'floor');
      policy = tightened;
    }
  }
  if (conflicts.length > 0)
    throw new UsageError(conflicts.join('\n'), { code: 'policy_floor', ...positionOf(conflicts[0] ?? '', own.source) });
  return { ...own, policy, origins, floorSha256: floor.sha256 };
}

function isStated(loaded: LoadedPolicy, key: string): boolean {
  return (loaded.origins.get(key) ?? 'default') !== 'default';
}

function placeOf(loaded: LoadedPolicy, key: string): string {
  const origin = loaded.origins.get(key) ?? 'default';
  return origin === 'default' ? `${loaded.source} (default)` : origin;
}

function positionOf(conflict: string, file: string): { position?: { file: string; line: number; column: number } } {
  const [, line, column] = /^:(\d+):(\d+):/.exec(conflict.slice(file.length)) ?? [];
  return line === undefined ? {} : { position: { file, line: Number(line), column: Number(column) } };
}
