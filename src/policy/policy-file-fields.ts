import * as z from 'zod';
import { globFault } from './glob.ts';
import { parseHostRule } from './host-list.ts';
import { nearestName } from './nearest-name.ts';
import { parseDuration, parseSize, renderDuration, renderSize } from './quantity.ts';

/**
 * The words of every message here are what is expected: `policy-faults.ts` puts the key, its value and its position before them.
 * A message of `section` has one line for each unknown key, in the order of the issue's `keys`.
 */

/** A map with these keys and no others. */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownKeyHint(key, known)).join('\n')
        : `expected a map with ${known.map((key) => `\`${key}\``).join(', ')}`,
  });
}

function unknownKeyHint(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest === null
    ? `expected one of ${known.map((one) => `\`${one}\``).join(', ')}`
    : `did you mean \`${nearest}\`?`;
}

export function count(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function flag() {
  return z.boolean({ error: 'expected true or false' });
}

/** Text of one line or more, without NUL. */
export function text(what: string, max = 10_000) {
  const error = `expected ${what}`;
  return z
    .string({ error })
    .min(1, { error })
    .max(max, { error: `${error} of at most ${max} characters` })
    .refine((value) => !value.includes('\0') && value.trim() !== '', { error });
}

export function pattern(what: string, shape: RegExp) {
  return text(what, 1000).regex(shape, { error: `expected ${what}` });
}

export function oneOf<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.enum(names, {
    error: (issue) => {
      const nearest = typeof issue.input === 'string' ? nearestName(issue.input, names) : null;
      return `expected ${names.join(' | ')}${nearest === null ? '' : `; did you mean \`${nearest}\`?`}`;
    },
  });
}

export function list<Item extends z.ZodType>(item: Item, what: string, max = 1000) {
  return z.array(item, { error: `expected a list of ${what}` }).max(max, { error: `expected at most ${max} entries` });
}

/** Milliseconds. */
export function duration(minMs: number, maxMs: number) {
  const error = `expected a duration from ${renderDuration(minMs)} to ${renderDuration(maxMs)}, like 90s, 20m or 1h30m`;
  return z.string({ error }).transform((value, context) => {
    const ms = parseDuration(value);
    if (ms !== null && ms >= minMs && ms <= maxMs) return ms;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });
}

/** Bytes. */
export function size(minBytes: number, maxBytes: number) {
  const error = `expected a size from ${renderSize(minBytes)} to ${renderSize(maxBytes)}, like 512KiB, 4GiB or a number of bytes`;
  return z.union([z.int(), z.string()], { error }).transform((value, context) => {
    const bytes = typeof value === 'number' ? value : parseSize(value);
    if (bytes !== null && bytes >= minBytes && bytes <= maxBytes) return bytes;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });
}

const globRule = 'a glob relative to the repository root, like src/** or *.md';

export function globs() {
  return list(
    text(globRule, 1024).superRefine((value, context) => {
      const fault = globFault(value);
      if (fault !== null) context.addIssue({ code: 'custom', message: `it ${fault}; expected ${globRule}` });
    }),
    'globs',
  );
}

export const environmentName = pattern('the name of an environment variable', /^[A-Za-z_][A-Za-z0-9_]*$/);

export function environmentRules(absent: { pass: string; set: string }) {
  return section({
    pass: list(environmentName, 'names of environment variables')
      .optional()
      .describe(
        `Variables taken from belay's own environment when they are set there. Absent: ${absent.pass}. Empty: none. Filled: exactly these.`,
      ),
    set: z
      .record(environmentName, z.string({ error: 'expected text (put numbers and true/false in quotes)' }), {
        error: 'expected a map of names to texts',
      })
      .optional()
      .describe(`Variables with their values. Absent: ${absent.set}. Empty: none. Filled: exactly these.`),
  });
}

const hostForm = 'a host name, an address or *.domain, each with an optional :port';
const host = text(hostForm, 300).refine((value) => parseHostRule(value) !== null, { error: `expected ${hostForm}` });

export function networkAccess() {
  return z.union(
    [
      z.literal('none'),
      section({
        allow: list(host, 'host names').describe(
          'Hosts that may be reached through the proxy: `name`, `*.domain` (any name below it, not itself), an address; on ports 80 and 443, or the `:port` named alone. A private or loopback address only where it is listed itself. Empty: none. Filled: these alone.',
        ),
      }),
    ],
    { error: 'expected none or {allow: [hosts]}' },
  );
}
