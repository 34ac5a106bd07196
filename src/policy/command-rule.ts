import type { ShellWord } from './shell-word.ts';

export interface CommandRule {
  /** As written in the policy. */
  source: string;
  /** A lone `*` at the end is left out: it adds nothing to a prefix. */
  words: readonly string[];
}

/** What is wrong with a rule, as what is expected; null when it is fine. */
export function commandRuleFault(source: string): string | null {
  if (/[\p{C}|;&<>()$`"'\\{}\n]/u.test(source))
    return 'expected plain words such as `git push`, without quotes or other shell syntax';
  const [name] = parseCommandRule(source).words;
  return name === undefined || name.startsWith('-') ? 'expected the name of a command first' : null;
}

export function parseCommandRule(source: string): CommandRule {
  const words = source.split(/[ \t]+/).filter((word) => word !== '');
  while (words.length > 1 && words.at(-1) === '*') words.pop();
  return { source, words };
}

/** `yes`: it is that command; `maybe`: what cannot be known could make it that command. */
export type RuleMatch = 'yes' | 'maybe' | 'no';

/**
 * For rules that forbid or ask: errs towards a match. Words of the rule must follow each other from the first on; options of the
 * command between them, and what may be an option's value, are passed over. Options of the rule may stand anywhere.
 */
export function matchRule(rule: CommandRule, words: readonly ShellWord[]): RuleMatch {
  const [name = '', ...rest] = rule.words;
  const [first] = words;
  // it may become the whole command
  if (first?.known === false && first.splits) return 'maybe';
  const named = matchName(name, first);
  if (named === 'no') return 'no';
  const positional = rest.filter((word) => !isOption(word));
  const options = rest.filter(isOption);
  const given = words.slice(1);
  const matches = (mode: 'known' | 'unknown') =>
    followEachOther(positional, given, { mode, takesValue: VALUE_OPTIONS.get(name) }) &&
    options.every((option) => hasOption(option, given, mode));
  if (named === 'yes' && matches('known')) return 'yes';
  return matches('unknown') ? 'maybe' : 'no';
}

/** For rules that allow: the words themselves, one after the other from the first on, and nothing unknown among them. */
export function allowsCommand(rule: CommandRule, words: readonly ShellWord[]): boolean {
  return rule.words.every((wanted, index) => {
    const word = words[index];
    if (word?.known !== true) return false;
    return matchText(wanted, index === 0 ? withoutSystemFolder(word.text) : word.text) || matchText(wanted, word.text);
  });
}

const withoutSystemFolder = (name: string) => name.replace(/^\/(?:usr\/(?:local\/)?)?s?bin\/(?=[^/]+$)/, '');

/** A path matches the name of its last part: who forbids `git` forbids `/usr/bin/git`. */
function matchName(wanted: string, word: ShellWord | undefined): RuleMatch {
  if (word === undefined) return 'no';
  const last = (text: string) => (wanted.includes('/') ? text : text.slice(text.lastIndexOf('/') + 1));
  if (word.known) return matchText(wanted, last(word.text)) || matchText(wanted, word.text) ? 'yes' : 'no';
  if (wanted.includes('*')) return 'maybe';
  return last(word.suffix) !== word.suffix
    ? last(word.suffix) === wanted
      ? 'yes'
      : 'no'
    : wanted.endsWith(word.suffix)
      ? 'maybe'
      : 'no';
}

/** Options before the subcommand that always take the next word as their value: no guessing for these. */
const VALUE_OPTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['git', new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env', '--attr-source'])],
  ['npm', new Set(['--prefix', '-w', '--workspace', '--registry', '--userconfig'])],
]);

interface Reading {
  mode: 'known' | 'unknown';
  takesValue: ReadonlySet<string> | undefined;
}

function followEachOther(
  wanted: readonly string[],
  words: readonly ShellWord[],
  { mode, takesValue }: Reading,
): boolean {
  // reached[i]: how many of the wanted words may be done before word i
  const reached = Array.from({ length: words.length + 3 }, () => new Set<number>());
  reached[0]?.add(0);
  for (let at = 0; at <= words.length; at++) {
    for (const done of reached[at] ?? []) {
      const next = wanted[done];
      if (next === undefined) return true;
      const word = words[at];
      if (word === undefined) continue;
      if (done === 0 && word.known && takesValue?.has(word.text) === true) {
        const value = words[at + 1];
        if (mode === 'unknown' && value?.known === false && value.splits) return true;
        reached[at + 2]?.add(done);
        continue;
      }
      if (!word.known && mode === 'known') {
        if (!word.splits && word.prefix.startsWith('-')) reached[at + 1]?.add(done);
        continue;
      }
      if (!word.known && word.splits && (word.prefix === '' || isOption(word.prefix))) return true;
      if (mayBeOption(word)) {
        reached[at + 1]?.add(done);
        if (!(word.known ? word.text : word.prefix).includes('=')) reached[at + 2]?.add(done);
      }
      if (mayBeWord(next, word)) {
        if (!word.known && word.splits) return true;
        reached[at + 1]?.add(done + 1);
      }
    }
  }
  return false;
}

function mayBeOption(word: ShellWord): boolean {
  return word.known ? isOption(word.text) : word.prefix === '' || isOption(word.prefix);
}

function mayBeWord(wanted: string, word: ShellWord): boolean {
  if (word.known) return matchText(wanted, word.text);
  const star = wanted.indexOf('*');
  const head = star < 0 ? wanted : wanted.slice(0, star);
  if (star >= 0) return head.startsWith(word.prefix) || word.prefix.startsWith(head);
  return wanted.startsWith(word.prefix) && (word.splits || wanted.slice(word.prefix.length).endsWith(word.suffix));
}

function hasOption(wanted: string, words: readonly ShellWord[], mode: 'known' | 'unknown'): boolean {
  if (mode === 'unknown' && words.some((word) => !word.known && (word.splits || mayBeOption(word)))) return true;
  const texts = words.flatMap((word) => (word.known ? [word.text] : isOption(word.prefix) ? [word.prefix] : []));
  if (texts.some((text) => matchText(wanted, text) || isLongForm(wanted, text))) return true;
  if (!/^-[A-Za-z0-9]+$/.test(wanted)) return false;
  const letters = new Set(texts.filter((text) => /^-[A-Za-z0-9]+$/.test(text)).flatMap((text) => [...text.slice(1)]));
  return [...wanted.slice(1)].every((letter) => letters.has(letter));
}

/** `--force=x` and `--forc`, which many programs take for `--force`. */
function isLongForm(wanted: string, text: string): boolean {
  const [option = ''] = text.split('=', 1);
  return wanted.startsWith('--') && option.length >= 4 && wanted.startsWith(option);
}

function isOption(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}

/** `*` stands for any text. A mismatch goes back to the last `*` only: at worst length × length steps. */
export function matchText(wanted: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let starAt = 0;
  let index = 0;
  while (index < text.length) {
    if (wanted[at] === '*') {
      star = at++;
      starAt = index;
    } else if (wanted[at] === text[index]) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++starAt;
    } else {
      return false;
    }
  }
  while (wanted[at] === '*') at++;
  return at === wanted.length;
}
