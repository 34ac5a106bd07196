import { ANY_WORDS, type ShellWord } from './shell-word.ts';

/** How a program that runs another one is called: `name [options] [assignments] [operands] command…`. */
export interface WrapperForm {
  /** Options that take the next word as their value: one letter or a long name. */
  values?: string;
  /** Options without a value; any other option may or may not take one, and both readings count. */
  flags?: string;
  operands?: number;
  assignments?: boolean;
  /** `-` alone is an option: `env -` starts with an empty environment. */
  dashIsOption?: boolean;
  /** Options that keep it from running anything. */
  idle?: string;
}

/** The commands that the words after the name may be: more than one where an option is not known. */
export function innerCommands(words: readonly ShellWord[], form: WrapperForm): readonly (readonly ShellWord[])[] {
  const values = (form.values ?? '').split(' ');
  const flags = (form.flags ?? '').split(' ');
  const idle = (form.idle ?? '').split(' ');
  const found: (readonly ShellWord[])[] = [];
  const seen = new Set<number>();
  const open = [1];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at) || at >= words.length) continue;
    seen.add(at);
    const word = words[at];
    if (word === undefined) continue;
    if (!word.known && (word.splits || word.prefix.startsWith('-') || word.prefix === '')) {
      found.push([ANY_WORDS]);
      continue;
    }
    const text = word.known ? word.text : word.prefix;
    if (text === '--') found.push(afterOperands(words.slice(at + 1), form));
    else if (form.assignments === true && isAssignment(word)) open.push(at + 1);
    else if (text === '-' && form.dashIsOption === true) open.push(at + 1);
    else if (!text.startsWith('-') || text === '-') found.push(afterOperands(words.slice(at), form));
    else {
      const kind = optionKind(text, { values, flags, idle });
      if (kind === 'idle') return [];
      if (kind !== 'flag') open.push(at + 2);
      if (kind !== 'value') open.push(at + 1);
    }
  }
  return found.filter((inner) => inner.length > 0);
}

function afterOperands(words: readonly ShellWord[], form: WrapperForm): readonly ShellWord[] {
  let at = 0;
  while (form.assignments === true && isAssignment(words[at])) at++;
  const operands = words.slice(at, at + (form.operands ?? 0));
  return operands.some((word) => !word.known && word.splits) ? [ANY_WORDS] : words.slice(at + operands.length);
}

function isAssignment(word: ShellWord | undefined): boolean {
  return word !== undefined && /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word.known ? word.text : word.prefix);
}

type OptionKind = 'value' | 'flag' | 'either' | 'idle';

function optionKind(text: string, known: { values: string[]; flags: string[]; idle: string[] }): OptionKind {
  if (text.startsWith('--')) {
    const name = text.slice(2).split('=', 1)[0] ?? '';
    if (known.idle.includes(name)) return 'idle';
    if (text.includes('=')) return 'flag';
    return known.values.includes(name) ? 'value' : known.flags.includes(name) ? 'flag' : 'either';
  }
  // letters in one word: the first that takes a value takes the rest of the word, or the next word when it is the last
  for (const [index, letter] of [...text.slice(1)].entries()) {
    if (known.idle.includes(letter)) return 'idle';
    if (known.values.includes(letter)) return index === text.length - 2 ? 'value' : 'flag';
    if (!known.flags.includes(letter)) return /\d/.test(letter) ? 'flag' : 'either';
  }
  return 'flag';
}
