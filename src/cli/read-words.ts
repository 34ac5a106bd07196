import { UsageError } from '../errors.ts';
import { oneLine } from '../events/index.ts';
import type { Command } from './command.ts';

/** What a parser says of a command line: positionals by name, those too many in `_`, those behind `--` apart. */
type Parsed = Readonly<Record<string, unknown>>;

export interface ReadWords {
  words: readonly string[];
  /** One that is missing, or one too many. */
  fault: UsageError | null;
}

/** The words of a command, in order, those that were given. */
export function readWords({ usage, positionals }: Command, parsed: Parsed, argv: readonly string[]): ReadWords {
  const names = Object.keys(positionals);
  const listed = [...names.flatMap((name) => textsOf(parsed[name])), ...textsOf(parsed['_'])];
  // The parser turns a lone `-` into an empty text.
  const plain = listed.map((word) => (word === '' && argv.includes('-') ? '-' : word));
  const words = [...plain, ...textsOf(parsed['--'])];
  const [command = ''] = usage.split(' ');
  const refuse = (reason: string) => new UsageError(`belay ${command}: ${reason}; usage: belay ${usage}`);
  const missing = names[words.length];
  if (missing !== undefined && usage.includes(`<${missing}>`))
    return { words, fault: refuse(`<${missing}> is missing (${positionals[missing]?.describe})`) };
  const surplus = usage.includes('..') ? undefined : words[names.length];
  if (surplus === undefined) return { words, fault: null };
  const hint = names[0] === 'goal' ? ' (a goal of several words goes into quotes)' : '';
  return { words, fault: refuse(`${JSON.stringify(oneLine(surplus, 80))} is one argument too many${hint}`) };
}

function textsOf(value: unknown): string[] {
  return [value].flat().flatMap((one: unknown) => (typeof one === 'string' ? [one] : []));
}
