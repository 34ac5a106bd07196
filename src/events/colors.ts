/** The colours that belay uses; picocolors satisfies it. */
export interface Colors {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const same = (text: string) => text;

export const NO_COLORS: Colors = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };
