import { isUtf8 } from 'node:buffer';
import { describeNearMiss } from './near-miss.ts';
import { MAX_EDIT_BYTES } from './read-bytes.ts';

export interface Replacement {
  /** Literal text, not empty; a newline in it also matches CRLF. */
  from: string;
  to: string;
  all: boolean;
}

export type Replaced = { kind: 'replaced'; bytes: Buffer; count: number } | { kind: 'failed'; reason: string };

/** Replaces text in a file's bytes. Outside of what really differs every byte stays; new line ends are those around. */
export function replaceBytes(bytes: Buffer, replacement: Replacement): Replaced {
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  const encode = (text: string): string => {
    const plain = text.replaceAll('\r\n', '\n');
    return encoding === 'utf8' ? plain : Buffer.from(plain, 'utf8').toString('latin1');
  };
  const raw = bytes.toString(encoding);
  const text = raw.replaceAll('\r\n', '\n');
  const from = encode(replacement.from);
  const to = encode(replacement.to);

  const starts = occurrences(text, from, replacement.all);
  const [first] = starts;
  if (first === undefined) {
    const plain = encoding === 'utf8' ? text : Buffer.from(text, 'latin1').toString('utf8');
    const near = describeNearMiss(plain.split('\n'), replacement.from.replaceAll('\r\n', '\n').split('\n'));
    return { kind: 'failed', reason: `old_text is not in the file. ${near}` };
  }
  if (starts.length > 1 && !replacement.all) {
    const lines = lineNumbers(text, starts);
    return {
      kind: 'failed',
      reason: `old_text stands at lines ${lines}: ambiguous. Take in more lines around it, or set all.`,
    };
  }
  if (text.length + starts.length * to.length > 2 * MAX_EDIT_BYTES) {
    return { kind: 'failed', reason: `the result would be larger than ${2 * MAX_EDIT_BYTES} bytes` };
  }
  const result = spliceRaw({ raw, text, starts, from, to });
  return { kind: 'replaced', bytes: Buffer.from(result, encoding), count: starts.length };
}

/** With `all` from left to right without overlaps, else at most nine, overlapping ones included: they are as ambiguous. */
function occurrences(text: string, wanted: string, all: boolean): number[] {
  const starts: number[] = [];
  const step = all ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at !== -1 && (all || starts.length < 9); at = text.indexOf(wanted, at + step)) {
    starts.push(at);
  }
  return starts;
}

function lineNumbers(text: string, starts: readonly number[]): string {
  const shown = starts.slice(0, 8).map((start) => text.slice(0, start).split('\n').length);
  return `${[...new Set(shown)].join(', ')}${starts.length > shown.length ? ', …' : ''}`;
}

/** `text` is `raw` with every CRLF as `\n`; positions are of `text` and ascend. */
function spliceRaw(job: { raw: string; text: string; starts: readonly number[]; from: string; to: string }): string {
  const { raw, text, from, to } = job;
  let prefix = 0;
  while (prefix < Math.min(from.length, to.length) && from[prefix] === to[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < Math.min(from.length, to.length) - prefix && from.at(-1 - suffix) === to.at(-1 - suffix)) suffix += 1;
  const inserted = to.slice(prefix, to.length - suffix);

  const pieces: string[] = [];
  let textAt = 0;
  let rawAt = 0;
  /** Moves both positions on, over a CRLF as one step. */
  const rawUpTo = (end: number): string => {
    const startOfPiece = rawAt;
    for (;;) {
      const newline = text.indexOf('\n', textAt);
      if (newline === -1 || newline >= end) break;
      rawAt += newline - textAt;
      rawAt += raw[rawAt] === '\r' && raw[rawAt + 1] === '\n' ? 2 : 1;
      textAt = newline + 1;
    }
    rawAt += end - textAt;
    textAt = end;
    return raw.slice(startOfPiece, rawAt);
  };
  for (const start of job.starts) {
    pieces.push(rawUpTo(start + prefix));
    pieces.push(inserted.includes('\n') ? inserted.replaceAll('\n', lineEndAround(raw, rawAt)) : inserted);
    rawUpTo(start + from.length - suffix);
  }
  pieces.push(raw.slice(rawAt));
  return pieces.join('');
}

/** The line end of the line at a position; of the one before where it has none. */
function lineEndAround(raw: string, at: number): '\n' | '\r\n' {
  const next = raw.indexOf('\n', at);
  const newline = next === -1 ? raw.lastIndexOf('\n', at) : next;
  return newline > 0 && raw[newline - 1] === '\r' ? '\r\n' : '\n';
}
