import type * as z from 'zod';
import { parseJson } from '../events/index.ts';
import type { Tool } from './tool.ts';

/** A call that may run, or what to tell the model about one that may not. Nothing has happened yet. */
export type ParsedCall = { kind: 'call'; tool: Tool; input: unknown } | { kind: 'rejected'; reason: string };

const MAX_REASON_CHARS = 1000;

function parseInput(text: string): { kind: 'parsed'; value: unknown } | { kind: 'malformed'; reason: string } {
  if (text.trim() === '') return { kind: 'parsed', value: {} };
  try {
    return { kind: 'parsed', value: parseJson(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: 'malformed', reason: error.message };
  }
}

/** Models write null for an optional key that they leave out. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null));
}

function describeIssues(error: z.ZodError): string {
  const issues = error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  return issues.join('; ');
}

/** Checks a call as the model wrote it: known tool, valid JSON, right keys and types. Unknown keys are an error. */
export function parseCall(tools: readonly Tool[], name: string, inputJson: string): ParsedCall {
  const rejected = (reason: string): ParsedCall => ({
    kind: 'rejected',
    reason: reason.length > MAX_REASON_CHARS ? `${reason.slice(0, MAX_REASON_CHARS)}…` : reason,
  });
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const known = tools.map((one) => one.name).join(', ');
    return rejected(`There is no tool ${JSON.stringify(name.slice(0, 100))}. The tools are: ${known}.`);
  }
  const json = parseInput(inputJson);
  if (json.kind === 'malformed') {
    return rejected(`The input of ${name} is not valid JSON, the call did not run: ${json.reason}`);
  }
  const parsed = tool.input.safeParse(withoutNulls(json.value));
  if (!parsed.success) {
    return rejected(`The input of ${name} is not valid, the call did not run: ${describeIssues(parsed.error)}`);
  }
  return { kind: 'call', tool, input: parsed.data };
}
