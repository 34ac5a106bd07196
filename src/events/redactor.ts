import { createPatternSet, type PatternSet } from './pattern-set.ts';
import { MIN_SECRET_LENGTH, secretForms } from './secret-forms.ts';

export interface Secret {
  /** What the reader sees in place of the value; usually the name of the environment variable. */
  name: string;
  value: string;
}

/** Redaction of bytes that come in pieces. What comes out is what `redact` makes of the whole, wherever the pieces end. */
export interface RedactStream {
  /** The bytes that are safe to pass on, some of them those of `chunk` itself; holds back less than the longest form of a secret. */
  push(chunk: Uint8Array): Buffer;
  /** The rest. Nothing is pushed after it. */
  end(): Buffer;
}

export interface Redactor {
  /** Replaces known values (plain, base64, URL-encoded, JSON-escaped, hex) by `[redacted:NAME]`. Lone surrogates become U+FFFD. */
  redact(text: string): string;
  redactStream(): RedactStream;
  /** One sentence for each value that cannot be redacted; never the value itself. */
  readonly warnings: readonly string[];
}

interface Run {
  start: number;
  end: number;
  /** The longest pattern in it names it. */
  pattern: number;
}

/** Overlapping finds become one replacement, so that no part of a value is left between two of them. */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const warnings: string[] = [];
  const markers: Buffer[] = [];
  const forms: Buffer[] = [];
  const names = secrets.map((secret) => `[redacted:${secret.name.replace(/[^\w.-]/g, '_')}]`);
  for (const [index, secret] of secrets.entries()) {
    const problem = whyNotRedactable(secret.value, names);
    if (problem !== null) {
      if (secret.value !== '') warnings.push(`${secret.name} is not redacted: ${problem}`);
      continue;
    }
    for (const form of secretForms(secret.value)) {
      forms.push(form);
      markers.push(Buffer.from(names[index] ?? ''));
    }
  }
  if (forms.length === 0) return { redact: (text) => text, redactStream: passOn, warnings };
  const patterns = createPatternSet(forms);
  const shortest = Math.min(...forms.map((form) => form.length));
  return {
    warnings,
    redactStream: () => createRedactStream(patterns, forms, markers),
    redact(text) {
      // A UTF-16 unit is at most three bytes.
      if (text.length * 3 < shortest) return text;
      const bytes = Buffer.from(text);
      let found = false;
      patterns
        .createScanner(() => {
          found = true;
        })
        .push(bytes);
      if (!found) return text;
      const stream = createRedactStream(patterns, forms, markers);
      return Buffer.concat([stream.push(bytes), stream.end()]).toString();
    },
  };
}

function whyNotRedactable(value: string, markers: readonly string[]): string | null {
  const text = value.trim();
  if (text.length < MIN_SECRET_LENGTH)
    return `a value of fewer than ${MIN_SECRET_LENGTH} characters also occurs in innocent text`;
  if (markers.some((marker) => marker.includes(text))) return 'its value is part of the text that would replace it';
  return null;
}

function passOn(): RedactStream {
  return { push: (chunk) => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), end: () => Buffer.alloc(0) };
}

function createRedactStream(patterns: PatternSet, forms: readonly Buffer[], markers: readonly Buffer[]): RedactStream {
  const runs: Run[] = [];
  let held: Buffer = Buffer.alloc(0);
  let heldFrom = 0;
  const scanner = patterns.createScanner((match) => {
    const run = { ...match };
    for (let last = runs.at(-1); last !== undefined && run.start < last.end; last = runs.at(-1)) {
      run.start = Math.min(run.start, last.start);
      if (lengthOf(last.pattern) >= lengthOf(run.pattern)) run.pattern = last.pattern;
      runs.pop();
    }
    runs.push(run);
  });
  const lengthOf = (pattern: number) => forms[pattern]?.length ?? 0;

  /** Everything before `limit`, where no find to come can begin. */
  function release(limit: number): Buffer {
    const out: Buffer[] = [];
    let from = heldFrom;
    const copyTo = (end: number) => {
      if (end > from) out.push(held.subarray(from - heldFrom, end - heldFrom));
    };
    for (let run = runs[0]; run !== undefined && run.start < limit; run = runs[0]) {
      copyTo(run.start);
      from = Math.max(from, Math.min(run.end, limit));
      // A run that may still grow keeps only its offsets: its bytes are never needed again.
      if (run.end > limit) break;
      out.push(markers[run.pattern] ?? Buffer.alloc(0));
      runs.shift();
    }
    copyTo(limit);
    held = Buffer.from(held.subarray(limit - heldFrom));
    heldFrom = limit;
    const [first = Buffer.alloc(0)] = out;
    return out.length > 1 ? Buffer.concat(out) : first;
  }

  return {
    push(chunk) {
      scanner.push(chunk);
      held =
        held.length === 0
          ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
          : Buffer.concat([held, chunk]);
      return release(heldFrom + held.length - scanner.pendingBytes());
    },
    end: () => release(heldFrom + held.length),
  };
}
