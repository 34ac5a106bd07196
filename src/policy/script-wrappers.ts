import type { SimpleCommand } from './shell-commands.ts';
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
      return words.length < 3 || /^(?:-|)$/.test(renderWord(words[1] ?? words[0] ?? NO_WORD))
        ? RUNS_NOTHING
        : scriptOf(words.slice(1, 2), false);
    case 'alias':
      return unwrapAlias(words);
    case 'source':
    case '.':
      return readsUnknown(words[1]) ? unknown('what is sourced') : RUNS_NOTHING;
    case 'watch':
      return hasOption(words, /^(?:-[a-z]*x|--exec)$/) ? null : unwrapWatch(words);
    case 'parallel':
      return unwrapParallel(words);
    case 'env':
      return unwrapEnvString(words);
    case 'su':
    case 'runuser':
    case 'script':
    case 'flock':
    case 'npx':
      return optionScript(words, { option: /^(?:-[a-z]*c|--command|--call)$/, attached: /^--(?:command|call)=/ });
    case 'npm':
      return words[1]?.known === true && /^(?:exec|x)$/.test(words[1].text)
        ? optionScript(words, { option: /^(?:-c|--call)$/, attached: /^--call=/ })
        : null;
    case 'git':
      return unwrapGit(words);
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

function unwrapWatch(words: readonly ShellWord[]): Unwrapped {
  const start = operandIndex(words, /^(?:-[a-z]*n|--interval)$/);
  return scriptOf(words.slice(start), true);
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

/** `env -S 'git push'` splits its text as a shell would. */
function unwrapEnvString(words: readonly ShellWord[]): Unwrapped | null {
  const at = words.findIndex((word) => /^(?:-[a-zA-Z0-9]*S|--split-string)/.test(word.known ? word.text : word.prefix));
  if (at < 1) return null;
  const text = renderWord(words[at] ?? NO_WORD);
  const attached = text.replace(/^(?:-[a-zA-Z0-9]*?S|--split-string=?)/, '');
  const parts =
    attached === '' ? words.slice(at + 1) : [{ ...(words[at] ?? NO_WORD), text: attached }, ...words.slice(at + 1)];
  const script = scriptOf(
    parts.map((part) => (part.known ? { known: true, text: part.text } : part)),
    true,
  );
  const assignments = /^\s*(?:-[^\s]+\s+)*/;
  return { ...script, scripts: script.scripts.map((one) => ({ ...one, text: one.text.replace(assignments, '') })) };
}

function hasOption(words: readonly ShellWord[], option: RegExp): boolean {
  return words.slice(1).some((word) => option.test(renderWord(word)));
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
