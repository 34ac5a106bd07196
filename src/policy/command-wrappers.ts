import { unwrapLoginShell, unwrapOptionScript, unwrapScript } from './script-wrappers.ts';
import type { SimpleCommand } from './shell-commands.ts';
import { ANY_WORDS, renderWord, type ShellWord } from './shell-word.ts';
import { RUNS_NOTHING, type Unwrapped } from './unwrapped.ts';
import { BARE_RUNNERS, FORMS, PRIVILEGED, RUNNERS } from './wrapper-forms.ts';
import { innerCommands, type WrapperForm } from './wrapper-options.ts';

export function commandName(words: readonly ShellWord[]): string | null {
  const [word] = words;
  const text =
    word?.known === true
      ? word.text
      : word !== undefined && !word.splits && word.suffix.includes('/')
        ? word.suffix
        : null;
  return text === null ? null : text.slice(text.lastIndexOf('/') + 1);
}

export function unwrapCommand(command: SimpleCommand): Unwrapped {
  const name = commandName(command.words);
  if (name === null) return RUNS_NOTHING;
  const byScript = unwrapScript(name, command);
  if (byScript !== null) return byScript;
  const byWords = unwrapWords(name, command.words);
  const byOption =
    unwrapOptionScript(name, command.words) ?? (byWords.commands.length === 0 ? unwrapLoginShell(name, command) : null);
  return byOption === null ? byWords : { ...byWords, scripts: byOption.scripts, fault: byOption.fault };
}

function unwrapWords(name: string, words: readonly ShellWord[]): Unwrapped {
  if (name.startsWith('git-')) return dashedGit(name, words);
  if (name === 'xargs') return unwrapXargs(words);
  if (name === 'find') return { ...RUNS_NOTHING, commands: findCommands(words) };
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
  if (form !== undefined) {
    const commands = innerCommands(words, form);
    return { ...RUNS_NOTHING, commands, transparent: commands.length > 0 && !PRIVILEGED.has(name) };
  }
  const subcommands = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  const isBare = BARE_RUNNERS.has(name);
  const at = isBare ? 0 : words.findIndex((word) => word.known && subcommands?.includes(word.text) === true);
  if (at < 0 || (at === 0 && !isBare)) return RUNS_NOTHING;
  return { ...RUNS_NOTHING, commands: innerCommands(words.slice(at), { assignments: true }), judged: false };
}

/** `git-push` is what `git push` starts, and may be started by itself. */
function dashedGit(name: string, words: readonly ShellWord[]): Unwrapped {
  const git: readonly ShellWord[] = ['git', name.slice('git-'.length)].map((text) => ({ known: true, text }));
  return { ...RUNS_NOTHING, commands: [[...git, ...words.slice(1)]], judged: false };
}

const XARGS: WrapperForm = {
  values: 'a arg-file d delimiter E I L max-lines n max-args P max-procs s max-chars process-slot-var',
  flags: '0 null e i l o open-tty p interactive r no-run-if-empty t verbose x exit eof replace',
};

/** What is read from stdin comes after the words, or in place of the text that `-I` names. */
function unwrapXargs(words: readonly ShellWord[]): Unwrapped {
  const commands = innerCommands(words, XARGS).map((inner) => [...inner.map(mayBeReplaced), ANY_WORDS]);
  return { ...RUNS_NOTHING, commands, transparent: commands.length > 0 };
  function mayBeReplaced(word: ShellWord): ShellWord {
    const mark = replacedText(words);
    if (!word.known || mark === null || !word.text.includes(mark)) return word;
    const at = word.text.indexOf(mark);
    return {
      known: false,
      prefix: word.text.slice(0, at),
      suffix: word.text.slice(word.text.lastIndexOf(mark) + mark.length),
      splits: false,
      source: word.text,
    };
  }
}

function replacedText(words: readonly ShellWord[]): string | null {
  for (const [index, word] of words.entries()) {
    const text = renderWord(word);
    if (text === '-I') return renderWord(words[index + 1] ?? word);
    const attached = /^(?:-I|-i|--replace=)(.+)$/.exec(text)?.[1];
    if (attached !== undefined) return attached;
    if (text === '-i' || text === '--replace') return '{}';
  }
  return null;
}

function findCommands(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const commands: ShellWord[][] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || !/^-(?:exec|ok)(?:dir)?$/.test(renderWord(word))) continue;
    const inner: ShellWord[] = [];
    for (at++; at < words.length; at++) {
      const next = words[at];
      if (next === undefined || (next.known && (next.text === ';' || next.text === '+'))) break;
      const replaced = next.known && next.text.includes('{}');
      inner.push(replaced ? { known: false, prefix: '', suffix: '', splits: false, source: next.text } : next);
    }
    if (inner.length > 0) commands.push(inner);
  }
  return commands;
}
