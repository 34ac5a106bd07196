import { UsageError } from '../errors.ts';
import { oneLine } from '../events/index.ts';
import type { OptionTable } from './options.ts';

/** An argument list split into what the parser is given, and what is wrong with the rest. */
export interface ScannedOptions {
  words: readonly string[];
  fault: UsageError | null;
}

const NEGATIVE_NUMBER = /^-(?:\.?\d)/;
const TRUTHS = new Set(['true', 'false']);

interface OptionOwner {
  /** `belay run`, or `belay` alone where the command is not known yet. */
  name: string;
  options: OptionTable;
}

/**
 * Takes out every option that its owner lacks: what a user reads of it are belay's words, not the parser's, and a switch of the parser's
 * own is none of belay's. `--` ends the options.
 */
export async function scanOptions(argv: readonly string[], owner: OptionOwner): Promise<ScannedOptions> {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const words: string[] = [];
  let fault: UsageError | null = null;
  for (const word of argv.slice(0, end)) {
    const scanned = isOption(word) ? await scanOption(word, owner) : word;
    if (typeof scanned === 'string') words.push(scanned);
    else fault ??= scanned;
  }
  return { words: [...words, ...argv.slice(end)], fault };
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-' && !NEGATIVE_NUMBER.test(word);
}

/** The option as the parser takes it, or what is wrong with it. */
async function scanOption(word: string, owner: OptionOwner): Promise<string | UsageError> {
  const [, dashes = '', name = '', value] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const short = dashes === '-' ? byLetter(name[0] ?? '', owner.options) : null;
  // `-oFILE` and `-o=FILE` are one thing to a user, and three letters to the parser.
  if (short !== null && word.length > 2) return `--${short}=${word.slice(2).replace(/^=/, '')}`;
  if (short !== null) return word;
  const spec = dashes === '--' && Object.hasOwn(owner.options, name) ? owner.options[name] : undefined;
  if (spec === undefined) return unknownOption(dashes, name, owner);
  if (spec.kind !== 'flag' || value === undefined || TRUTHS.has(value)) return word;
  return new UsageError(`--${name} takes no value, but ${JSON.stringify(value)} was given`);
}

async function unknownOption(dashes: string, name: string, owner: OptionOwner): Promise<UsageError> {
  const { nearestName } = await import('../policy/index.ts');
  const near = nearestName(name, Object.keys(owner.options));
  const meant = near === null ? '' : `; did you mean --${near}?`;
  return new UsageError(
    `${owner.name} has no option ${oneLine(`${dashes}${name}`, 80)}${meant} (see ${owner.name} --help)`,
  );
}

function byLetter(letter: string, options: OptionTable): string | null {
  return Object.entries(options).find(([, { alias }]) => alias === letter)?.[0] ?? null;
}
