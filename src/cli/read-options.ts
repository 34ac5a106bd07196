import { UsageError } from '../errors.ts';
import { environmentName, type OptionSpec, type OptionTable } from './options.ts';

export interface GivenOption {
  values: readonly string[];
  /** `option --turns` or `environment BELAY_TURNS`. */
  origin: string;
}

/** Options as given, by name: the option itself wins over its environment variable. */
export type GivenOptions = ReadonlyMap<string, GivenOption>;

const YES = new Set(['1', 'true', 'yes', 'on']);
const NO = new Set(['', '0', 'false', 'no', 'off']);

/** The options that can be read, and the first that cannot: whoever refuses the command line still has to know where to say so. */
export function readOptions(
  table: OptionTable,
  parsed: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
): { given: GivenOptions; fault: UsageError | null } {
  const given = new Map<string, GivenOption>();
  let fault: UsageError | null = null;
  for (const [name, spec] of Object.entries(table)) {
    try {
      const option = readOption({ name, spec, value: parsed[name], env });
      if (option !== null) given.set(name, option);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      fault ??= error;
    }
  }
  return { given, fault };
}

interface OptionSources {
  name: string;
  spec: OptionSpec;
  value: unknown;
  env: NodeJS.ProcessEnv;
}

function readOption({ name, spec, value, env }: OptionSources): GivenOption | null {
  const option = fromArguments(name, spec.kind, value) ?? fromEnvironment(name, spec.kind, env);
  const wrong = option?.values.find((one) => spec.choices && !spec.choices.includes(one));
  if (option !== null && wrong !== undefined)
    throw new UsageError(`${option.origin}: ${JSON.stringify(wrong)} is none of ${spec.choices?.join(', ')}`);
  return option;
}

function fromArguments(name: string, kind: string, value: unknown): GivenOption | null {
  if (value === undefined || value === false) return null;
  const origin = `option --${name}`;
  if (kind === 'flag') return { values: ['true'], origin };
  const values = (Array.isArray(value) ? value : [value]).map(String);
  if (values.length === 0 || values.includes('')) throw new UsageError(`--${name} needs a value`);
  if (kind === 'text' && values.length > 1) throw new UsageError(`--${name} was given ${values.length} times`);
  return { values, origin };
}

function fromEnvironment(name: string, kind: string, env: NodeJS.ProcessEnv): GivenOption | null {
  const variable = environmentName(name);
  const value = env[variable];
  if (value === undefined || value === '') return null;
  const origin = `environment ${variable}`;
  if (kind !== 'flag') return { values: [value], origin };
  if (YES.has(value.toLowerCase())) return { values: ['true'], origin };
  if (NO.has(value.toLowerCase())) return null;
  throw new UsageError(`${variable}: ${JSON.stringify(value)} is neither true nor false`);
}

export function textOf(given: GivenOptions, name: string): string | null {
  return given.get(name)?.values[0] ?? null;
}

export function listOf(given: GivenOptions, name: string): readonly string[] {
  return given.get(name)?.values ?? [];
}

export function isGiven(given: GivenOptions, name: string): boolean {
  return given.has(name);
}
