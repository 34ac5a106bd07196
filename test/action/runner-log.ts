/** What a runner reads from the log of a step: its commands, as the runner takes them, and the text that is none. */

export interface LogCommand {
  name: string;
  properties: Readonly<Record<string, string>>;
  message: string;
}

export interface RunnerLog {
  commands: LogCommand[];
  text: string[];
}

const KNOWN = new Set([
  ...['error', 'warning', 'notice', 'debug', 'group', 'endgroup', 'add-mask', 'stop-commands', 'echo'],
  ...['set-output', 'set-env', 'save-state', 'add-path', 'add-matcher', 'remove-matcher', 'internal-set-repo-path'],
]);
const NEW_FORM = /^\s*::([\w-]+)(?: ([^:]*(?::(?!:)[^:]*)*))?::(.*)$/;
/** The older form is taken anywhere in a line. */
const OLD_FORM = /##\[([\w-]+)(?: ([^\]]*))?\](.*)$/;

export function readRunnerLog(output: string): RunnerLog {
  const log: RunnerLog = { commands: [], text: [] };
  let stoppedUntil: string | null = null;
  // A carriage return ends a line for the runner, too.
  for (const line of output.split(/\r\n|\r|\n/)) {
    const command: LogCommand | null = parseCommand(line, stoppedUntil);
    if (stoppedUntil !== null) {
      if (command?.name === stoppedUntil) stoppedUntil = null;
      else log.text.push(line);
    } else if (command === null) log.text.push(line);
    else {
      log.commands.push(command);
      if (command.name === 'stop-commands') stoppedUntil = command.message;
    }
  }
  if (stoppedUntil !== null) throw new Error('the log ends with commands stopped');
  return log;
}

function parseCommand(line: string, token: string | null): LogCommand | null {
  for (const [form, isOld] of [
    [NEW_FORM, false],
    [OLD_FORM, true],
  ] as const) {
    const [, name, properties = '', message = ''] = form.exec(line) ?? [];
    if (name === undefined || !(KNOWN.has(name) || name === token)) continue;
    const pairs = properties
      .split(isOld ? ';' : ',')
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), unescapeProperty(pair.slice(pair.indexOf('=') + 1))]);
    return { name, properties: Object.fromEntries(pairs), message: unescapeData(message) };
  }
  return null;
}

function unescapeData(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

function unescapeProperty(text: string): string {
  return unescapeData(text.replaceAll('%3A', ':').replaceAll('%2C', ','));
}

/** The file of `GITHUB_OUTPUT` or `GITHUB_ENV` as the runner takes it; a file that it refuses is an error. */
export function readCommandFile(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line === '') continue;
    const [equals, heredoc] = [line.indexOf('='), line.indexOf('<<')];
    if (equals >= 0 && (heredoc < 0 || equals < heredoc)) {
      values[line.slice(0, equals)] = line.slice(equals + 1);
    } else if (heredoc >= 0) {
      const end = lines.indexOf(line.slice(heredoc + 2), at + 1);
      if (end < 0) throw new Error(`no end of ${line}`);
      values[line.slice(0, heredoc)] = lines.slice(at + 1, end).join('\n');
      at = end;
    } else throw new Error(`no command: ${line}`);
  }
  return values;
}
