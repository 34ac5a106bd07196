import { UsageError } from '../errors.ts';
import { oneLine } from '../events/index.ts';
import type { Command } from './command.ts';
import { COMMANDS, LATER } from './commands/index.ts';
import type { OptionTable } from './options.ts';
import { type ScannedOptions, scanOptions } from './scan-options.ts';

export interface ChosenCommands extends ScannedOptions {
  /** Those that the words may mean. */
  commands: readonly Command[];
  /** Help or the version is asked for: nothing is done, and nothing refused. */
  asksHelp: boolean;
}

const HELP = new Set(['--help', '-h', '--version', '-v']);
const EVERY_OPTION: OptionTable = Object.assign({}, ...COMMANDS.map(({ options }) => options));

export const nameOf = ({ usage }: Command): string => usage.split(' ')[0] ?? usage;

/** A command that is named first is parsed as if there were no other: the parser renders the whole help after any other (50 ms). */
export async function chooseCommands(argv: readonly string[]): Promise<ChosenCommands> {
  const [first, ...rest] = argv;
  const named = COMMANDS.find((command) => nameOf(command) === first);
  const isSection = first === 'help';
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  if (isSection || argv.slice(0, end).some((word) => HELP.has(word))) {
    const words = isSection ? [...rest, '--help'] : argv;
    await refuseUnknown(words);
    return { commands: COMMANDS, words, asksHelp: true, fault: null };
  }
  if (named !== undefined)
    return {
      commands: [named],
      asksHelp: false,
      ...(await scanOptions(rest, { name: `belay ${first}`, options: named.options })),
    };
  await refuseUnknown(argv.slice(0, end));
  return {
    commands: COMMANDS,
    asksHelp: false,
    ...(await scanOptions(argv, { name: 'belay', options: EVERY_OPTION })),
  };
}

async function refuseUnknown(words: readonly string[]): Promise<void> {
  const name = words.find((word) => !word.startsWith('-'));
  if (name !== undefined && LATER.has(name)) throw new UsageError(`belay ${name} is not in this version`);
  const names = COMMANDS.map(nameOf);
  if (name === undefined || name !== words[0] || names.includes(name)) return;
  throw await unknownCommand(name);
}

export async function unknownCommand(name: string): Promise<UsageError> {
  const { nearestName } = await import('../policy/index.ts');
  const near = nearestName(name, COMMANDS.map(nameOf));
  const shown = oneLine(name, 80);
  return new UsageError(
    `there is no command ${shown}${near === null ? '' : `; did you mean ${near}?`} (see belay --help)`,
  );
}
