import { createHash } from 'node:crypto';
import { createHeadTailBuffer } from '../context/index.ts';
import type { CheckOutput } from './check-run.ts';
import { createTestCounter } from './count-tests.ts';

const TAIL_BYTES = 4096;
/** What `expect.matches` looks at of an output that is longer: its first and its last half of this. */
const MATCHED_BYTES = 1_048_576;

export interface OutputCapture {
  write(chunk: Buffer): void;
  end(): CapturedOutput;
}

export interface CapturedOutput extends CheckOutput {
  /** Text for `expect.matches`; empty where it was not asked for. */
  matched: string;
  /** Tests that ran; null where it was not asked for or the output does not tell. */
  tests: number | null;
}

export interface CaptureOptions {
  outputBytes: number;
  keepMatched: boolean;
  countTests: boolean;
  redactor: { write(chunk: Buffer): Buffer; end(): Buffer };
}

/** Takes in an output of any length in bounded memory. Secrets are gone before anything is kept, hashed or counted. */
export function createOutputCapture({ outputBytes, keepMatched, countTests, redactor }: CaptureOptions): OutputCapture {
  const hash = createHash('sha256');
  const bounded = createHeadTailBuffer(outputBytes);
  const matched = keepMatched ? createHeadTailBuffer(MATCHED_BYTES) : null;
  const counter = countTests ? createTestCounter() : null;
  let tail: Buffer = Buffer.alloc(0);

  function keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    hash.update(bytes);
    bounded.write(bytes);
    matched?.write(bytes);
    counter?.write(bytes);
    tail = Buffer.from(Buffer.concat([tail, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES));
  }

  return {
    write: (chunk) => keep(redactor.write(chunk)),
    end() {
      keep(redactor.end());
      return {
        ...bounded.read((gap) => `\n[… ${gap.omitted_bytes} of ${gap.total_bytes} bytes left out …]\n`),
        sha256: hash.digest('hex'),
        tail: wholeCharacters(tail).toString('utf8'),
        matched: matched?.read(() => '\n').text ?? '',
        tests: counter?.end() ?? null,
      };
    },
  };
}

/** Without the continuation bytes of a character that was cut off at the front. */
function wholeCharacters(bytes: Buffer): Buffer {
  let start = 0;
  if (bytes.length === TAIL_BYTES) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
