import { unwrapScript } from './script-wrappers.ts';
import type { SimpleCommand } from './shell-commands.ts';
import { ANY_WORDS, renderWord, type ShellWord } from './shell-word.ts';
import { RUNS_NOTHING, type Unwrapped } from './unwrapped.ts';
import { innerCommands, type WrapperForm } from './wrapper-options.ts';

const FORMS: Readonly<Record<string, WrapperForm>> = {
  env: { values: 'u unset C chdir S split-string', flags: 'i ignore-environment 0 null v debug', assignments: true },
  nohup: {},
  setsid: { flags: 'c ctty f fork w wait' },
  time: { values: 'f format o output', flags: 'a append p portability v verbose q quiet', idle: 'version help V' },
  timeout: { values: 's signal k kill-after', flags: 'foreground preserve-status v verbose f p', operands: 1 },
  nice: { values: 'n adjustment' },
  ionice: { values: 'c class n classdata', flags: 't ignore', idle: 'p pid P pgid u uid' },
  chrt: {
    values: 'T D P sched-runtime sched-deadline sched-period',
    flags: 'b d f i o r R v batch deadline fifo idle other rr',
    operands: 1,
    idle: 'p pid m max',
  },
  taskset: { flags: 'a c all-tasks cpu-list', operands: 1, idle: 'p pid' },
  stdbuf: { values: 'i o e input output error' },
  unbuffer: { flags: 'p' },
  exec: { values: 'a', flags: 'c l' },
  command: { flags: 'p', idle: 'v V' },
  builtin: {},
  watch: {
    values: 'n interval',
    flags: 'b beep c color d differences e errexit g chgexit p precise t no-title w x exec',
  },
  flock: {
    values: 'w wait timeout E conflict-exit-code',
    flags: 's shared x e exclusive n nb nonblock u unlock F o close v verbose',
    operands: 1,
  },
  strace: { values: 'e o p s u E a O S I P X', flags: 'f ff c C v q t tt T x y' },
  ltrace: { values: 'e o p s u a l n', flags: 'f c C S t T' },
  catchsegv: {},
  'dbus-run-session': { values: 'config-file dbus-daemon' },
  'xvfb-run': {
    values: 'n server-num e error-file f auth-file p xauth-protocol s server-args w wait',
    flags: 'a auto-servernum l listen-tcp',
  },
  caffeinate: { values: 't w', flags: 'd i m s u' },
  busybox: {},
  toybox: {},
  doas: { values: 'u C', flags: 'n s L' },
  sudo: {
    values: 'u user g group h host p prompt r role t type C close-from D chdir R chroot T command-timeout U other-user',
    flags:
      'A askpass b background E preserve-env H set-home i login k K n non-interactive P preserve-groups S stdin s shell',
    assignments: true,
    idle: 'l list v validate V version e edit',
  },
  chroot: { values: 'groups userspec', flags: 'skip-chdir', operands: 1 },
  unshare: {
    values: 'S setuid G setgid R root w wd',
    flags: 'f m u i n p r U C T mount uts ipc net pid user fork map-root-user',
  },
  nsenter: { values: 't target S setuid G setgid', flags: 'a m u i n p U C T F all mount uts ipc net pid user' },
  setpriv: { values: 'reuid regid ruid euid groups', flags: 'clear-groups keep-groups init-groups no-new-privs' },
  runuser: { values: 'u user g group G supp-group' },
  prlimit: { flags: 'noheadings raw', idle: 'p pid' },
};

/** These change who or where the command is: a default of ask or deny is for them too. */
const PRIVILEGED = new Set(['sudo', 'doas', 'chroot', 'unshare', 'nsenter', 'setpriv', 'runuser']);

/** Tools whose named subcommand runs the words after it. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  poetry: ['run'],
  uv: ['run'],
  pdm: ['run'],
  rye: ['run'],
  hatch: ['run'],
  pipenv: ['run'],
  conda: ['run'],
  bundle: ['exec'],
  pnpm: ['exec', 'dlx'],
  yarn: ['exec', 'run'],
  npm: ['exec', 'x'],
  mise: ['exec', 'x'],
};
const BARE_RUNNERS = new Set(['npx', 'bunx', 'cross-env', 'dotenv']);

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
  const { words } = command;
  const name = commandName(words);
  if (name === null) return RUNS_NOTHING;
  const byScript = unwrapScript(name, command);
  if (byScript !== null) return byScript;
  if (name === 'xargs') return unwrapXargs(words);
  if (name === 'find') return { ...RUNS_NOTHING, commands: findCommands(words) };
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
  if (form !== undefined) {
    const commands = innerCommands(words, form);
    return { ...RUNS_NOTHING, commands, transparent: commands.length > 0 && !PRIVILEGED.has(name) };
  }
  const subcommands = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  const at = BARE_RUNNERS.has(name)
    ? 0
    : words.findIndex((word) => word.known && subcommands?.includes(word.text) === true);
  if (at < 0 || (at === 0 && !BARE_RUNNERS.has(name))) return RUNS_NOTHING;
  return { ...RUNS_NOTHING, commands: innerCommands(words.slice(at), { assignments: true }), judged: false };
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
