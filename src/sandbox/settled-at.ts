/** Longest tick of a kernel's clock (10 ms), with room. */
export const TICK_MS = 50;
/** Of a file system that keeps seconds, or two of them. */
const COARSE_TICK_MS = 3000;

/** From when on (milliseconds since the epoch) a change gives an entry another time of change than it has. */
export const settledAtMs = ({ ctimeMs }: { ctimeMs: number }): number =>
  ctimeMs + (Number.isInteger(ctimeMs) ? COARSE_TICK_MS : TICK_MS);
