import yargs from 'yargs';
import { UsageError } from '../errors.ts';
import { exitCodeOf, explainError } from '../events/index.ts';
import { checkEnvironment } from './check-environment.ts';
import { type ChosenCommands, chooseCommands, nameOf, unknownCommand } from './choose-commands.ts';
import type { Command, Io } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { dropSharedFiles } from './drop-shared-files.ts';
import type { HeldSignals } from './hold-signals.ts';
import type { OptionTable } from './options.ts';
import { describeFailure, print } from './print.ts';
import { readOptions } from './read-options.ts';
import { readWords } from './read-words.ts';
import { scanOptions } from './scan-options.ts';

declare const BELAY_VERSION: string;

function yargsOptions(table: OptionTable) {
  return Object.fromEntries(
    Object.entries(table).map(([name, spec]) => [
      name,
      {
        describe: spec.choices ? `${spec.describe}: ${spec.choices.join(', ')}` : spec.describe,
        ...(spec.kind === 'flag' ? { boolean: true as const } : { string: true as const }),
        ...(spec.kind === 'list' ? { array: true as const } : {}),
        ...(spec.alias ? { alias: spec.alias } : {}),
      },
    ]),
  );
}

interface Asked {
  command: Command;
  parsed: Readonly<Record<string, unknown>>;
}

interface Site {
  io: Io;
  signals: HeldSignals;
}

async function runCommand(
  { command, parsed }: Asked,
  { words, fault }: ChosenCommands,
  { io, signals }: Site,
): Promise<number> {
  if (command.hasStream === undefined) await signals.release();
  const options = readOptions(command.options, parsed, io.env);
  const read = readWords(command, parsed, words);
  const environment = await checkEnvironment(io.env);
  if (environment.note !== null) await print(io.stderr, `belay: ${environment.note}\n`);
  // Options before the command's name were scanned without knowing whose they are.
  const own = await scanOptions(words, { name: `belay ${nameOf(command)}`, options: command.options });
  const files = dropSharedFiles(command, { given: options.given, words: read.words }, io.cwd());
  const first = fault ?? own.fault ?? options.fault ?? read.fault ?? environment.fault ?? files.fault;
  if (first !== null && command.hasStream === undefined) throw first;
  const handler = await command.load();
  return handler({ options: files.given, words: read.words, io, version: BELAY_VERSION, signals, fault: first });
}

async function parse(chosen: ChosenCommands): Promise<{ shown: string; asked: Asked | null }> {
  let shown = '';
  let asked: Asked | null = null as Asked | null;
  const parser = yargs([])
    .scriptName('belay')
    .usage('$0 <command>\n\nOne goal and one policy in, one verified verdict out.')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'greedy-arrays': false,
      'populate--': true,
      'parse-numbers': false,
      'parse-positional-numbers': false,
    })
    .locale('en')
    .exitProcess(false)
    .showHelpOnFail(false);
  // Where help is on, a goal that is the word help would print it, and end as if all were well.
  if (chosen.asksHelp) parser.help().alias('help', 'h').version(BELAY_VERSION);
  else parser.help(false).version(false);
  for (const command of chosen.commands) {
    const { usage } = command;
    // A word that is missing is for readWords to tell.
    const shape = chosen.asksHelp ? usage : usage.replaceAll('<', '[').replaceAll('>', ']');
    parser.command(
      chosen.commands === COMMANDS ? shape : shape.replace(/^\S+/, '$0'),
      command.describe,
      (y) => {
        for (const [name, positional] of Object.entries(command.positionals))
          y.positional(name, { type: 'string', ...positional });
        y.options(yargsOptions(command.options));
        if (command.epilogue) y.epilogue(command.epilogue);
      },
      (parsed) => {
        const beforeName = chosen.commands === COMMANDS ? 1 : 0;
        asked = { command, parsed: { ...parsed, _: parsed._.slice(beforeName) } };
      },
    );
  }
  const parsed = await parser.parseAsync([...chosen.words], {}, (_error, _parsed, output) => {
    shown = output;
  });
  const [stranger] = parsed._;
  if (asked !== null || shown !== '') return { shown, asked };
  throw (
    chosen.fault ??
    (stranger === undefined
      ? new UsageError('name a command; see belay --help')
      : await unknownCommand(String(stranger)))
  );
}

/** Parses, dispatches to one handler, and returns the exit code: the only place where one is decided. */
export async function main(argv: readonly string[], io: Io, signals: HeldSignals): Promise<number> {
  // A reader that went away (`| head`) is told to whoever writes; without a listener it would end the process with a stack trace.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => undefined);
  try {
    const chosen = await chooseCommands(argv);
    const { shown, asked } = await parse(chosen);
    if (shown !== '') await print(io.stdout, `${shown}\n`);
    return asked === null ? 0 : await runCommand(asked, chosen, { io, signals });
  } catch (error) {
    await print(io.stderr, `belay: ${describeFailure(error)}\n`);
    return exitCodeOf(explainError(error).outcome, { checksDeclaredEmpty: false });
  }
}
