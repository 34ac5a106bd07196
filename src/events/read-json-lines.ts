import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { jsonOf } from './parse-json.ts';

/** Why a line is not a JSON object of its own. `torn`: the input ends inside it. `unreadable`: the input broke off. */
export type LineFault =
  | 'too_long'
  | 'bad_utf8'
  | 'carriage_return'
  | 'empty'
  | 'not_json'
  | 'not_object'
  | 'torn'
  | 'unreadable';

export type JsonLine =
  | { kind: 'line'; lineNumber: number; line: string; value: Record<string, unknown> }
  /** `message` quotes nothing of the line: it may hold secrets. */
  | { kind: 'fault'; lineNumber: number; reason: LineFault; message: string };

const MESSAGES: Record<Exclude<LineFault, 'too_long' | 'unreadable'>, string> = {
  bad_utf8: 'the line is not UTF-8',
  carriage_return: 'the line holds a carriage return; lines end with \\n alone',
  empty: 'the line is empty',
  not_json: 'the line is not JSON',
  not_object: 'the line is JSON, but not an object',
  torn: 'the last line has no newline: the writer was cut off',
};

/** Longest line of an event file; give `maxLineBytes` for cassettes and notes. */
export const DEFAULT_MAX_LINE_BYTES = 1_048_576;

/**
 * Reads JSON Lines of unknown origin, in memory bounded by the longest line allowed. Every line comes out, as an object or as a fault,
 * and reading goes on behind a fault. Never throws: a file that cannot be read is a fault too.
 */
export async function* readJsonLines(
  source: string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxLineBytes = DEFAULT_MAX_LINE_BYTES }: { maxLineBytes?: number } = {},
): AsyncGenerator<JsonLine, void, undefined> {
  const chunks = typeof source === 'string' ? createReadStream(source) : source;
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let lineNumber = 1;
  const take = (part: Uint8Array) => {
    bytes += part.length;
    // What is too long is only counted.
    if (bytes > maxLineBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const finish = (): JsonLine => {
    const line =
      bytes > maxLineBytes ? fault(lineNumber, 'too_long', tooLong(maxLineBytes)) : parseLine(parts, lineNumber);
    parts = [];
    bytes = 0;
    lineNumber++;
    return line;
  };
  try {
    for await (const chunk of chunks) {
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
        take(chunk.subarray(from, end));
        yield finish();
        from = end + 1;
      }
      take(chunk.subarray(from));
    }
  } catch (error) {
    yield fault(lineNumber, 'unreadable', error instanceof Error ? error.message : String(error));
    return;
  }
  if (bytes > 0) yield fault(lineNumber, 'torn', MESSAGES.torn);
}

function parseLine(parts: readonly Uint8Array[], lineNumber: number): JsonLine {
  const line = decodeUtf8(
    parts.length === 1 && parts[0] !== undefined
      ? Buffer.from(parts[0].buffer, parts[0].byteOffset, parts[0].byteLength)
      : Buffer.concat(parts),
  );
  if (line === null) return fault(lineNumber, 'bad_utf8');
  if (line === '') return fault(lineNumber, 'empty');
  if (line.includes('\r')) return fault(lineNumber, 'carriage_return');
  const value = jsonOf(line);
  if (value === undefined) return fault(lineNumber, 'not_json');
  return isObject(value) ? { kind: 'line', lineNumber, line, value } : fault(lineNumber, 'not_object');
}

function fault(lineNumber: number, reason: LineFault, message?: string): JsonLine {
  const known = reason === 'too_long' || reason === 'unreadable' ? reason : MESSAGES[reason];
  return { kind: 'fault', lineNumber, reason, message: message ?? known };
}

const tooLong = (maxLineBytes: number) => `the line is longer than ${maxLineBytes} bytes`;

/** A byte order mark stays, and then the line is no JSON. */
function decodeUtf8(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
