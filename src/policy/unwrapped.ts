import type { ShellWord } from './shell-word.ts';

/** What a command runs besides itself. */
export interface Unwrapped {
  /** Commands with their words. */
  commands: readonly (readonly ShellWord[])[];
  /** Shell source; `more`: words that cannot be known follow it. */
  scripts: readonly { text: string; more: boolean }[];
  /** Why what it runs cannot be known; null when it can. */
  fault: string | null;
  /** Whether the command does nothing but run the others, so that the default is for them alone. */
  transparent: boolean;
  /** Whether the default is for the others as well: not for those that a named tool runs (`poetry run pytest`). */
  judged: boolean;
}

export const RUNS_NOTHING: Unwrapped = { commands: [], scripts: [], fault: null, transparent: false, judged: true };
