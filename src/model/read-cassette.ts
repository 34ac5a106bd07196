import { createReadStream } from 'node:fs';
import { UsageError } from '../errors.ts';
import { parseJson } from '../events/index.ts';
import { CassetteAnswer } from './cassette.ts';

/** One answer has to fit into memory, a cassette has not. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * The answers of a cassette in order, read as they are asked for. Empty lines, CRLF and a byte-order mark are tolerated.
 * Throws `UsageError` (code `cassette`) with file, line and column.
 */
export async function* readCassette(file: string): AsyncGenerator<CassetteAnswer, void, undefined> {
  let number = 0;
  for await (const line of readLines(file)) {
    number += 1;
    const text = number === 1 && line.startsWith('\ufeff') ? line.slice(1) : line;
    if (text.trim() !== '') yield await parseLine(text, file, number);
  }
}

async function* readLines(file: string): AsyncGenerator<string, void, undefined> {
  let held: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  try {
    for await (const chunk of createReadStream(file)) {
      let rest = Buffer.from(chunk);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        yield Buffer.concat([...held, rest.subarray(0, end)]).toString('utf8');
        rest = rest.subarray(end + 1);
        held = [];
        bytes = 0;
        number += 1;
      }
      held.push(rest);
      bytes += rest.length;
      if (bytes > MAX_LINE_BYTES)
        throw cassetteError(`an answer is longer than ${MAX_LINE_BYTES} bytes`, { file, line: number, column: 1 });
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error) {
      throw new UsageError(`the cassette ${file} cannot be read (${String(error.code)})`, {
        code: 'cassette',
        cause: error,
      });
    }
    throw error;
  }
  yield Buffer.concat(held).toString('utf8');
}

async function parseLine(text: string, file: string, line: number): Promise<CassetteAnswer> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw cassetteError('this is not JSON', {
      file,
      line,
      column: (await import('./json-columns.ts')).brokenColumnOf(text),
    });
  }
  const parsed = CassetteAnswer.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path =
    issue === undefined ? [] : issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
  const key = path.join('.');
  throw cassetteError(`${issue?.message ?? 'this is no answer'}${key === '' ? '' : ` (${key})`}`, {
    file,
    line,
    column: (await import('./json-columns.ts')).columnOf(text, path),
  });
}

function cassetteError(what: string, position: { file: string; line: number; column: number }): UsageError {
  return new UsageError(`${position.file}:${position.line}:${position.column}: ${what}`, {
    code: 'cassette',
    position,
  });
}
