import type { CommandInput, SimpleCommand } from './shell-commands.ts';
import { renderWord, type ShellWord } from './shell-word.ts';
import { RUNS_NOTHING, type Unwrapped } from './unwrapped.ts';

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'mksh', 'rbash', 'fish']);
const STDIN_PATHS = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);

/** Commands that run shell source given as text; null for any other command. */
export function unwrapScript(name: string, command: SimpleCommand): Unwrapped | null {
  const { words } = command;
  if (SHELLS.has(name)) return unwrapShell(command);
  switch (name) {
    case 'eval':
      return scriptOf(words.slice(words[1]?.known === true && words[1].text === '--' ? 2 : 1), true);
    case 'trap':
      return unwrapTrap(words);
    case 'alias':
      return unwrapAlias(words);
    case 'source':
    case '.':
      return readsUnknown(words[1]) ? unknown('what is sourced') : RUNS_NOTHING;
    case 'watch':
      return unwrapWatch(words);
    case 'parallel':
      return unwrapParallel(words);
    case 'env':
      return unwrapEnvString(words);
    case 'git':
      return unwrapGit(words);
    default:
      return null;
  }
}

/**
 * Shell source that is an option's value, in commands that run their operands too: what stands behind an operand may be an
 * option of theirs or of the command they run, so both readings count. Null where there is none.
 */
export function unwrapOptionScript(name: string, words: readonly ShellWord[]): Unwrapped | null {
  switch (name) {
    case 'su':
    case 'runuser':
    case 'script':
    case 'flock':
    case 'npx':
    case 'npm':
      return optionScript(words, { option: /^(?:-[a-zA-Z]*c|--command|--call)$/, attached: /^--(?:command|call)=/ });
    case 'mapfile':
    case 'readarray':
      return optionScript(words, { option: /^-C$/, attached: /^-C(?=.)/ });
    default:
      return null;
  }
}

const NO_WORD: ShellWord = { known: true, text: '' };

function unknown(what: string): Unwrapped {
  return { ...RUNS_NOTHING, fault: `${what} cannot be known statically` };
}

/** The words joined by spaces are shell source. */
function scriptOf(words: readonly ShellWord[], transparent: boolean): Unwrapped {
  const texts = words.map((word) => (word.known ? word.text : null));
  if (texts.includes(null)) return { ...unknown(`\`${words.map(renderWord).join(' ').slice(0, 80)}\``), transparent };
  return { ...RUNS_NOTHING, scripts: [{ text: texts.join(' '), more: false }], transparent };
}

function readsUnknown(word: ShellWord | undefined): boolean {
  if (word === undefined) return false;
  return word.known ? STDIN_PATHS.has(word.text) : word.splits || word.source.includes('<(');
}

function unwrapShell({ words, input }: SimpleCommand): Unwrapped {
  let takesText = false;
  let readsInput = false;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || (!word.known && word.splits)) return unknown('what the shell runs');
    const text = word.known ? word.text : word.prefix;
    if (text === '--' || text === '-') {
      at++;
      break;
    }
    if (!/^[-+]/.test(text)) break;
    if (/^--(?:version|help)$/.test(text)) return RUNS_NOTHING;
    if (text.startsWith('--')) {
      if (/^--(?:rcfile|init-file)$/.test(text)) at++;
      else if (text === '--command') takesText = true;
      continue;
    }
    if (text.includes('c') && text.startsWith('-')) takesText = true;
    if (text.includes('s')) readsInput = true;
    if (/[oO]$/.test(text)) at++;
  }
  const operand = words[at];
  if (takesText) return operand === undefined ? RUNS_NOTHING : scriptOf([operand], true);
  if (operand !== undefined && !readsInput && !readsUnknown(operand)) return RUNS_NOTHING;
  return unwrapInput(input);
}

/** `trap 'text' SIGNAL`; `-` and an empty text only put a signal back or ignore it. */
function unwrapTrap(words: readonly ShellWord[]): Unwrapped {
  const start = words[1]?.known === true && words[1].text === '--' ? 2 : 1;
  const [text, signal] = words.slice(start);
  const runs = text !== undefined && signal !== undefined && !(text.known && /^-?$/.test(text.text));
  return runs ? scriptOf([text], false) : RUNS_NOTHING;
}

/** `su` and `sudo -s` without a command are a shell that reads its input. */
export function unwrapLoginShell(name: string, { words, input }: SimpleCommand): Unwrapped | null {
  const isShell =
    name === 'su' ||
    (/^(?:sudo|doas)$/.test(name) &&
      words.some((word) => /^(?:-[a-zA-Z]*[si][a-zA-Z]*|--shell|--login)$/.test(renderWord(word))));
  return isShell ? unwrapInput(input) : null;
}

function unwrapInput(input: CommandInput): Unwrapped {
  if (input.kind === 'text')
    return { ...RUNS_NOTHING, scripts: [{ text: input.text, more: false }], transparent: true };
  return input.kind === 'file' ? RUNS_NOTHING : unknown('what the shell reads');
}

/** An alias is followed by the words of its use. */
function unwrapAlias(words: readonly ShellWord[]): Unwrapped {
  const scripts: { text: string; more: boolean }[] = [];
  for (const word of words.slice(1)) {
    if (!word.known) return unknown('what the alias stands for');
    const equals = word.text.indexOf('=');
    if (equals > 0) scripts.push({ text: word.text.slice(equals + 1), more: true });
  }
  return { ...RUNS_NOTHING, scripts };
}

/** Null where `-x` makes the words a command instead of shell source. */
function unwrapWatch(words: readonly ShellWord[]): Unwrapped | null {
  const start = operandIndex(words, /^(?:-[a-z]*n|--interval)$/);
  const isCommand = words.slice(1, start).some((word) => /^(?:-[a-z]*x[a-z]*|--exec)$/.test(renderWord(word)));
  return isCommand ? null : scriptOf(words.slice(start), true);
}

/** GNU parallel gives the words before `:::` to a shell, with an input's text after them or in place of `{}`. */
function unwrapParallel(words: readonly ShellWord[]): Unwrapped {
  const start = operandIndex(
    words,
    /^(?:-[jnNPaSIX]|--(?:jobs|max-args|max-procs|arg-file|sshlogin|results|joblog|tmpdir|colsep|delay|timeout|retries))$/,
  );
  const end = words.findIndex((word, index) => index >= start && word.known && /^:{3,4}\+?$/.test(word.text));
  const template = words.slice(start, end < 0 ? undefined : end);
  if (template.length === 0) return unknown('what parallel runs');
  const script = scriptOf(template, true);
  if (template.some((word) => word.known && word.text.includes('{')))
    return { ...unknown('what parallel runs'), transparent: true };
  return { ...script, scripts: script.scripts.map(({ text }) => ({ text, more: true })) };
}

/** Index of the first word that is neither an option nor the value of one of those. */
function operandIndex(words: readonly ShellWord[], takesValue: RegExp): number {
  let at = 1;
  while (at < words.length && renderWord(words[at] ?? NO_WORD).startsWith('-'))
    at += takesValue.test(renderWord(words[at] ?? NO_WORD)) ? 2 : 1;
  return at;
}

/** `env -S 'git push'` splits its text as a shell would; the words behind it stay words. Null without that option. */
function unwrapEnvString(words: readonly ShellWord[]): Unwrapped | null {
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? NO_WORD;
    const text = word.known ? word.text : word.prefix;
    const attached = /^(?:-[a-zA-Z0-9]*?S|--split-string=?)(.*)$/s.exec(text)?.[1];
    if (attached !== undefined) {
      const [first = NO_WORD, ...more] = attached === '' ? words.slice(at + 1) : words.slice(at);
      if (!first.known) return { ...unknown('the text of env -S'), transparent: true };
      // the text may begin with options and assignments of env's own
      const script = `env ${attached === '' ? first.text : attached}`;
      return scriptOf([{ known: true, text: script }, ...more.map(quoted)], true);
    }
    if (/^(?:-[a-zA-Z0-9]*[uC]|--unset|--chdir)$/.test(text)) at++;
    else if (!/^-|^[A-Za-z_][A-Za-z0-9_]*=/.test(text)) return null;
  }
  return null;
}

function quoted(word: ShellWord): ShellWord {
  return word.known ? { known: true, text: `'${word.text.replaceAll("'", "'\\''")}'` } : word;
}

function optionScript(words: readonly ShellWord[], form: { option: RegExp; attached: RegExp }): Unwrapped | null {
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    const text = renderWord(word);
    if (form.option.test(text))
      return words[index + 1] === undefined ? RUNS_NOTHING : scriptOf(words.slice(index + 1, index + 2), false);
    if (form.attached.test(text))
      return word.known
        ? scriptOf([{ known: true, text: text.replace(form.attached, '') }], false)
        : unknown('the script');
  }
  return null;
}

/** Aliases given on the command line, and the subcommands that run shell source. */
function unwrapGit(words: readonly ShellWord[]): Unwrapped | null {
  const texts = words.map(renderWord);
  const configured = words.some((word, index) => {
    const value = texts[index - 1] === '-c' ? word : undefined;
    return (
      texts[index]?.startsWith('--config-env') === true ||
      (value !== undefined && (!value.known || /^alias\./i.test(value.text)))
    );
  });
  if (configured) return unknown('an alias given with -c');
  const at = texts.findIndex((text, index) => index > 0 && /^(?:foreach|run|rebase)$/.test(text));
  const before = texts[at - 1];
  if (texts[at] === 'foreach' && before === 'submodule')
    return scriptOf(words.slice(at + 1 + (texts[at + 1] === '--recursive' ? 1 : 0)), false);
  if (texts[at] === 'run' && before === 'bisect') return { ...RUNS_NOTHING, commands: [words.slice(at + 1)] };
  if (texts[at] === 'rebase')
    return optionScript(words.slice(at), { option: /^(?:-x|--exec)$/, attached: /^(?:--exec=|-x(?=.))/ });
  return null;
}
