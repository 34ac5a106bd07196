import { Event } from './event.ts';
import { type JsonLine, type LineFault, readJsonLines } from './read-json-lines.ts';

export type EventLine =
  | { kind: 'event'; lineNumber: number; line: string; event: Event }
  /** `line` is there where it is JSON, but no event: its hash still counts for the chain. */
  | { kind: 'fault'; lineNumber: number; reason: LineFault | 'not_an_event'; message: string; line?: string };

/** Reads a stream of events of unknown origin, line by line. Never throws; see `readJsonLines`. */
export async function* readEvents(
  source: string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<EventLine, void, undefined> {
  for await (const line of readJsonLines(source)) yield parseEventLine(line);
}

/** One line as an event, or as what is wrong with it. */
export function parseEventLine(json: JsonLine): EventLine {
  if (json.kind === 'fault') return json;
  const { lineNumber, line, value } = json;
  const parsed = Event.safeParse(value);
  if (parsed.success) return { kind: 'event', lineNumber, line, event: parsed.data };
  const message = describe(value, parsed.error.issues);
  return { kind: 'fault', lineNumber, reason: 'not_an_event', message, line };
}

/** The first problem and where it is; nothing of the values. */
function describe(value: Record<string, unknown>, issues: readonly { path: PropertyKey[]; message: string }[]): string {
  if (typeof value['v'] === 'number' && value['v'] !== 1)
    return `the event is of version ${value['v']}; this belay reads version 1`;
  const [first] = issues;
  const path = first?.path.map(String).join('.') ?? '';
  return `the event does not satisfy the schema${path === '' ? '' : ` at ${path}`}: ${first?.message ?? 'unknown'}`;
}
