import { UsageError } from '../errors.ts';
import { environmentName, type OptionTable } from './options.ts';

export interface GivenOption {
  values: readonly string[];
  /** `option --turns` or `environment BELAY_TURNS`. */
  origin: string;
}

/** Options as given, by name: the option itself wins over its environment variable. */
export type GivenOptions = ReadonlyMap<string, GivenOption>;

const YES = new Set(['1', 'true', 'yes', 'on']);
const NO = new Set(['', '0', 'false', 'no', 'off']);

export function readOptions(
  table: OptionTable,
  parsed: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
): GivenOptions {
  const given = new Map<string, GivenOption>();
  for (const [name, spec] of Object.entries(table)) {
    const option = fromArguments(name, spec.kind, parsed[name]) ?? fromEnvironment(name, spec.kind, env);
    if (option === null) continue;
    if (spec.choices) {
      for (const value of option.values) {
        if (!spec.choices.includes(value))
          throw new UsageError(`${option.origin}: ${JSON.stringify(value)} is none of ${spec.choices.join(', ')}`);
      }
    }
    given.set(name, option);
  }
  return given;
}

function fromArguments(name: string, kind: string, value: unknown): GivenOption | null {
  if (value === undefined || value === false) return null;
  const origin = `option --${name}`;
  if (kind === 'flag') return { values: ['true'], origin };
  const values = (Array.isArray(value) ? value : [value]).map(String);
  if (values.length === 0) return null;
  if (values.some((one) => one === '')) throw new UsageError(`--${name} needs a value`);
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
