import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { readEvents } from '../../events/index.ts';
import { auditEvents } from '../../thread/index.ts';
import type { Handler } from '../command.ts';
import { print } from '../print.ts';

const BROKEN = 17;

/** `belay audit`: schema, hash chain, one terminal event. */
export const auditStream: Handler = async ({ words: [source = ''], io }) => {
  const path = resolve(io.cwd(), source);
  if (source !== '-') await requireReadable(path);
  const report = await auditEvents(readEvents(source === '-' ? io.stdin : path));
  for (const fault of report.faults) await print(io.stderr, `${source}:${fault.line}: ${fault.reason}\n`);
  if (!report.ok) {
    await print(
      io.stdout,
      `broken: ${report.faults.length} ${report.faults.length === 1 ? 'fault' : 'faults'} in ${report.events} events\n`,
    );
    return BROKEN;
  }
  await print(io.stdout, `ok: ${report.events} events, outcome ${report.outcome ?? 'unknown'}\n`);
  return 0;
};

/** A file that is not there is bad usage, not a broken stream. */
export async function requireReadable(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
