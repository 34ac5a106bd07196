/** Wall time, as the log records it. Injected so that a log can be made twice with the same bytes. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
