import yargs from 'yargs';
import { UsageError } from '../errors.ts';
import { checkEnvironment } from './check-environment.ts';
import type { Command, Io } from './command.ts';
import { COMMANDS, LATER } from './commands/index.ts';
import type { OptionTable } from './options.ts';
import { describeFailure, print } from './print.ts';
import { readOptions } from './read-options.ts';

declare const BELAY_VERSION: string;

function yargsOptions(table: OptionTable) {
  return Object.fromEntries(
    Object.entries(table).map(([name, spec]) => [
      name,
      {
        describe: spec.choices ? `${spec.describe}: ${spec.choices.join(', ')}` : spec.describe,
        ...(spec.kind === 'flag' ? { boolean: true as const } : { string: true as const, requiresArg: true }),
        ...(spec.kind === 'list' ? { array: true as const } : {}),
        ...(spec.alias ? { alias: spec.alias } : {}),
      },
    ]),
  );
}

const nameOf = ({ usage }: Command): string => usage.split(' ')[0] ?? usage;

async function refuseUnknown(argv: readonly string[]): Promise<void> {
  const name = argv.find((word) => !word.startsWith('-'));
  if (name !== undefined && LATER.has(name)) throw new UsageError(`belay ${name} is not in this version`);
  const names = COMMANDS.map(nameOf);
  if (name === undefined || name !== argv[0] || names.includes(name)) return;
  const { nearestName } = await import('../policy/index.ts');
  const near = nearestName(name, names);
  throw new UsageError(
    `there is no command ${name}${near === null ? '' : `; did you mean ${near}?`} (see belay --help)`,
  );
}

const HELP = new Set(['--help', '-h', '--version', '-v']);

/** A command that is named first is parsed as if there were no other: the parser renders the whole help after any other (50 ms). */
function narrow(argv: readonly string[]): { commands: readonly Command[]; words: readonly string[] } {
  const [first, ...words] = argv;
  const named = COMMANDS.find((command) => nameOf(command) === first);
  return named === undefined || words.some((word) => HELP.has(word))
    ? { commands: COMMANDS, words: argv }
    : { commands: [named], words };
}

interface Asked {
  command: Command;
  parsed: Readonly<Record<string, unknown>>;
}

async function runCommand({ command, parsed }: Asked, argv: readonly string[], io: Io): Promise<number> {
  const note = await checkEnvironment(io.env);
  if (note !== null) await print(io.stderr, `belay: ${note}\n`);
  const handler = await command.load();
  const options = readOptions(command.options, parsed, io.env);
  // The parser turns a lone `-` into an empty text.
  const word = (value: string) => (value === '' && argv.includes('-') ? '-' : value);
  const names = Object.keys(command.positionals);
  const plain = names.flatMap((name) =>
    [parsed[name]].flat().flatMap((one: unknown) => (typeof one === 'string' ? [word(one)] : [])),
  );
  const after = parsed['--'];
  const words = [...plain, ...(Array.isArray(after) ? after.map(String) : [])];
  const surplus = command.usage.includes('..') ? undefined : words[names.length];
  if (surplus !== undefined) throw new UsageError(`Unknown argument: ${surplus}`);
  return handler({ options, words, io, version: BELAY_VERSION });
}

/** Parses, dispatches to one handler, and returns the exit code: the only place where one is decided. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
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
    .strict()
    .help()
    .alias('help', 'h')
    .version(BELAY_VERSION)
    .exitProcess(false)
    .showHelpOnFail(false)
    .fail((message: string | null, error) => {
      // The parser's own complaints come as errors of its own class, some of them.
      throw message === null ? error : new UsageError(message);
    });
  const { commands, words } = narrow(argv);
  if (commands === COMMANDS) parser.demandCommand(1, 'name a command; see belay --help');
  for (const command of commands) {
    parser.command(
      commands === COMMANDS ? command.usage : command.usage.replace(/^\S+/, '$0'),
      command.describe,
      (y) => {
        for (const [name, positional] of Object.entries(command.positionals))
          y.positional(name, { type: 'string', ...positional });
        y.options(yargsOptions(command.options));
        if (command.epilogue) y.epilogue(command.epilogue);
      },
      (parsed) => {
        asked = { command, parsed };
      },
    );
  }
  // A reader that went away (`| head`) is told to whoever writes; without a listener it would end the process with a stack trace.
  for (const stream of [io.stdout, io.stderr]) stream.on('error', () => undefined);
  try {
    if (commands === COMMANDS) await refuseUnknown(argv);
    await parser.parseAsync([...words], {}, (_error, _parsed, output) => {
      shown = output;
    });
    if (shown !== '') await print(io.stdout, `${shown}\n`);
    return asked === null ? 0 : await runCommand(asked, argv, io);
  } catch (error) {
    await print(io.stderr, `belay: ${describeFailure(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}
