/** One figure of the table. */
export interface Row {
  name: string;
  value: number;
  unit: 'ms' | 'MB' | 's CPU' | 'bytes' | 'tokens' | 'ratio' | 'KB';
  /** The measure beside it in the same run, and how many times it the value is. */
  against?: { name: string; value: number };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function render(value: number, unit: Row['unit']): string {
  const digits = unit === 'ratio' ? 3 : unit === 's CPU' ? 2 : value < 10 ? 1 : 0;
  return unit === 'ratio' ? value.toFixed(digits) : `${value.toFixed(digits)} ${unit}`;
}

export function renderTable(rows: readonly Row[]): string {
  const lines = rows.map(({ name, value, unit, against }) => {
    const beside =
      against === undefined
        ? ''
        : `${(value / against.value).toFixed(2)} × ${against.name} (${render(against.value, unit)})`;
    return `| ${name} | ${render(value, unit)} | ${beside} |`;
  });
  return ['| what | measured | beside it, in the same run |', '|---|---:|---|', ...lines].join('\n');
}
