import type { LimitName } from './result.ts';

/** `0.4 s`, `90.0 s`. */
export function renderSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** `0.4 s`, `12.3 s`, `1 m 05 s`, `2 h 03 m`. */
export function renderDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 59.95) return renderSeconds(ms);
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} m ${two(Math.round(seconds) % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
}

/** `950`, `12.3k`, `1.2M`. */
export function renderTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 999_950 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** Dollars; small amounts with the digits that tell them from nothing. */
export function renderCost(usd: number | null): string {
  if (usd === null) return 'cost unknown';
  return `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
}

/** What is used of a limit, in its unit. */
export function renderAmount(limit: LimitName, amount: number): string {
  if (limit === 'wall_time_ms') return renderDuration(amount);
  if (limit === 'cost_usd') return renderCost(amount);
  return limit === 'tokens' ? renderTokens(amount) : String(amount);
}

/** `wall_time_ms` → `wall time`. */
export const nameOfLimit = (limit: LimitName) => limit.replace(/_(ms|usd)$/, '').replaceAll('_', ' ');

const two = (value: number) => String(value).padStart(2, '0');
