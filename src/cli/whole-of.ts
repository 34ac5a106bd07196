import { UsageError } from '../errors.ts';
import type { GivenOptions } from './read-options.ts';

/** The whole number of an option; null when it is not given. */
export function wholeOf(
  options: GivenOptions,
  name: string,
  { least, most }: { least: number; most: number },
): number | null {
  const given = options.get(name);
  const text = given?.values[0];
  if (given === undefined || text === undefined) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `${given.origin}: ${JSON.stringify(text.slice(0, 40))} is not valid; expected a whole number from ${least} to ${most}`,
  );
}
