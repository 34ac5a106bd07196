import yargs from 'yargs';
import { UsageError } from '../errors.ts';
import type { Io } from './command.ts';
import { COMMANDS, LATER } from './commands/index.ts';
import type { OptionTable } from './options.ts';
import { describeBug, print } from './print.ts';
import { readOptions } from './read-options.ts';

declare const BELAY_VERSION: string;

function yargsOptions(table: OptionTable) {
  return Object.fromEntries(
    Object.entries(table).map(([name, spec]) => [
      name,
      {
        describe: spec.describe,
        ...(spec.kind === 'flag' ? { boolean: true as const } : { string: true as const, requiresArg: true }),
        ...(spec.kind === 'list' ? { array: true as const } : {}),
        ...(spec.alias ? { alias: spec.alias } : {}),
        ...(spec.choices ? { defaultDescription: spec.choices.join('|') } : {}),
      },
    ]),
  );
}

/** Parses, dispatches to one handler, and returns the exit code: the only place where one is decided. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  let shown = '';
  const parser = yargs([...argv])
    .scriptName('belay')
    .usage('$0 <command>\n\nOne goal and one policy in, one verified verdict out.')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'greedy-arrays': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
    })
    .locale('en')
    .strict()
    .demandCommand(1, 'name a command; see belay --help')
    .help()
    .alias('help', 'h')
    .version(BELAY_VERSION)
    .exitProcess(false)
    .showHelpOnFail(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    });
  for (const command of COMMANDS) {
    parser.command(
      command.usage,
      command.describe,
      (y) => {
        for (const [name, positional] of Object.entries(command.positionals))
          y.positional(name, { type: 'string', ...positional });
        y.options(yargsOptions(command.options));
        if (command.epilogue) y.epilogue(command.epilogue);
      },
      async (parsed) => {
        const handler = await command.load();
        const options = readOptions(command.options, parsed, io.env);
        // The parser turns a lone `-` into an empty text.
        const word = (value: string) => (value === '' && argv.includes('-') ? '-' : value);
        const words = Object.keys(command.positionals).flatMap((name) =>
          typeof parsed[name] === 'string' ? [word(parsed[name])] : [],
        );
        exitCode = await handler({ options, words, io, version: BELAY_VERSION });
      },
    );
  }
  // A reader that went away (`| head`) is told to whoever writes; without a listener it would end the process with a stack trace.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => undefined);
  try {
    const name = argv.find((word) => !word.startsWith('-'));
    if (name !== undefined && LATER.has(name)) throw new UsageError(`belay ${name} is not in this version`);
    await parser.parseAsync([...argv], {}, (_error, _parsed, output) => {
      shown = output;
    });
    if (shown !== '') await print(io.stdout, `${shown}\n`);
    return exitCode;
  } catch (error) {
    if (error instanceof UsageError) {
      await print(io.stderr, `belay: ${error.message}\n`);
      return 2;
    }
    await print(io.stderr, `belay: ${describeBug(error)}\n`);
    return 1;
  }
}
