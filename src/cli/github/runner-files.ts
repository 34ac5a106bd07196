import { appendFile } from 'node:fs/promises';
import { createToken } from './workflow-command.ts';

/**
 * Appends outputs to the runner's file. The delimiter is random and in no value, so that no text can end its value and begin
 * another output.
 */
export async function writeOutputs(
  file: string,
  outputs: Readonly<Record<string, string>>,
  newToken: () => string = createToken,
): Promise<void> {
  const entries = Object.entries(outputs).map(([name, value]) => {
    const delimiter = delimiterFor(value, newToken);
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  await appendFile(file, entries.join(''));
}

function delimiterFor(value: string, newToken: () => string): string {
  for (;;) {
    const delimiter = newToken();
    if (!value.includes(delimiter)) return delimiter;
  }
}

/** GitHub drops a summary of 1 MiB and more. */
const SUMMARY_BYTES = 1_000_000;
const CUT_NOTE = '\n\n_The report is longer than a job summary may be; the artifact has all of it._\n';

/** Appends to the job's summary, cut at the end of a line where it would be too long. */
export async function writeSummary(file: string, markdown: string): Promise<void> {
  await appendFile(file, cutAtLine(markdown, SUMMARY_BYTES, CUT_NOTE));
}

export function cutAtLine(text: string, bytes: number, note: string): string {
  const whole = Buffer.from(text);
  if (whole.length <= bytes) return text;
  const end = whole.lastIndexOf('\n', bytes - Buffer.byteLength(note));
  return `${whole.subarray(0, Math.max(end, 0)).toString('utf8')}${note}`;
}
