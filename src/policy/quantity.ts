const DURATION_UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const DURATION = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** Milliseconds of `90s`, `20m`, `1h30m`, `500ms`; null for any other text. Units come largest first, each at most once. */
export function parseDuration(text: string): number | null {
  const match = text.length > 40 ? null : DURATION.exec(text);
  if (match === null || text === '') return null;
  const amounts = [match[1], match[2], match[3], match[4], match[5]].map((digits) => Number(digits ?? 0));
  const units = Object.values(DURATION_UNITS_MS);
  const total = amounts.reduce((sum, amount, index) => sum + amount * (units[index] ?? 0), 0);
  return Number.isSafeInteger(total) ? total : null;
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** Bytes of `512KiB`, `4GiB`, `10MB` (powers of ten), `1024`; null for any other text. */
export function parseSize(text: string): number | null {
  const match = /^(\d{1,16})(?:\.(\d{1,3}))?\s?([KMGT]i?B|B)?$/.exec(text);
  if (match === null) return null;
  const unit = SIZE_UNITS[match[3] ?? ''] ?? 1;
  if (match[2] !== undefined && unit === 1) return null;
  const bytes = Math.round(Number(`${match[1]}.${match[2] ?? 0}`) * unit);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** The shortest text that `parseDuration` reads back as the same number. */
export function renderDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [unit, size] of Object.entries(DURATION_UNITS_MS)) {
    if (rest < size) continue;
    text += `${Math.floor(rest / size)}${unit}`;
    rest %= size;
  }
  return text === '' ? '0s' : text;
}

/** A text that `parseSize` reads back as the same number. */
export function renderSize(bytes: number): string {
  for (const unit of ['TiB', 'GiB', 'MiB', 'KiB']) {
    const size = SIZE_UNITS[unit] ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}
