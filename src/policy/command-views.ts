import { unwrapCommand } from './command-wrappers.ts';
import { collectCommands, type SimpleCommand } from './shell-commands.ts';
import { ANY_WORDS, type ShellWord } from './shell-word.ts';

/** One command that a script could run, found in it or inside a wrapper. */
export interface CommandView {
  words: readonly ShellWord[];
  /** Whether `commands.default` is for it: not for a wrapper that does nothing itself. */
  judged: boolean;
}

export interface ScriptViews {
  views: readonly CommandView[];
  /** Why there may be commands that were not found; empty when all were. */
  faults: readonly string[];
}

const MAX_SCRIPT_LENGTH = 1024 * 1024;
const MAX_DEPTH = 12;
const MAX_VIEWS = 5000;

interface Source {
  text: string;
  more: boolean;
  judged: boolean;
  depth: number;
}

/** Every command that the script could run, wrappers looked through. */
export function viewCommands(script: string): ScriptViews {
  const views: CommandView[] = [];
  const faults = new Set<string>();
  const sources: Source[] = [{ text: script, more: false, judged: true, depth: 0 }];
  for (let source = sources.shift(); source !== undefined; source = sources.shift()) {
    if (source.depth > MAX_DEPTH || source.text.length > MAX_SCRIPT_LENGTH || views.length > MAX_VIEWS) {
      faults.add('the command is too deep or too long to be judged');
      continue;
    }
    const { commands, fault } = collectCommands(source.text);
    if (fault !== null) faults.add(fault);
    const { more, judged, depth } = source;
    const open = commands.map((command) => ({
      command: more ? { ...command, words: [...command.words, ANY_WORDS] } : command,
      judged,
      depth,
    }));
    // the list grows while it is walked
    for (const next of open) {
      const unwrapped = unwrapCommand(next.command);
      views.push({ words: next.command.words, judged: next.judged && !unwrapped.transparent });
      if (unwrapped.fault !== null) faults.add(unwrapped.fault);
      const inner = { judged: next.judged && unwrapped.judged, depth: next.depth + 1 };
      for (const { text, more: followed } of unwrapped.scripts) sources.push({ text, more: followed, ...inner });
      if (next.depth >= MAX_DEPTH && unwrapped.commands.length > 0) faults.add('the command is too deep to be judged');
      else open.push(...unwrapped.commands.map((words) => ({ command: innerCommand(words, next.command), ...inner })));
      if (views.length > MAX_VIEWS) {
        faults.add('the command runs too many others to be judged');
        break;
      }
    }
  }
  return { views, faults: [...faults] };
}

/** A wrapped command reads what its wrapper reads. */
function innerCommand(words: readonly ShellWord[], wrapper: SimpleCommand): SimpleCommand {
  return { words, input: wrapper.input };
}
