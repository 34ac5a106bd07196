import { randomBytes } from 'node:crypto';

export interface CommandProperties {
  title?: string;
  file?: string;
  line?: number;
  col?: number;
}

/**
 * A workflow command of the log. Text from outside stays text: the escapes are those that the runner takes back
 * (`%` first, then what would end the line, and in properties what would end the property).
 */
export function renderWorkflowCommand(name: string, properties: CommandProperties, message: string): string {
  const list = Object.entries(properties)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  return `::${name}${list.length === 0 ? '' : ` ${list.join(',')}`}::${escapeData(message)}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** A word that nobody can foresee: it ends what is between `::stop-commands::` and itself, or a value of an output. */
export function createToken(): string {
  return `belay-${randomBytes(24).toString('hex')}`;
}
