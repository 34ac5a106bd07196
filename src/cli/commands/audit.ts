import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { type EventLine, type JsonLine, parseEventLine, readJsonLines } from '../../events/index.ts';
import { auditEvents, type StoredThread } from '../../thread/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { openNamedThread } from '../named-thread.ts';
import { print } from '../print.ts';

const BROKEN = 17;

/** `belay audit`: schema, hash chain, one terminal event; of a batch, for every run and for the batch itself; of a thread, all that it keeps. */
export const auditStream: Handler = async ({ words: [source = ''], io }) => {
  const thread = await openNamedThread(source, io);
  if (thread !== null) return auditThread(thread, io);
  const path = resolve(io.cwd(), source);
  if (source !== '-') await requireReadable(path);
  const lines = readJsonLines(source === '-' ? io.stdin : path);
  const first = await lines.next();
  const all = chain(first.done ? null : first.value, lines);
  const isBatch = !first.done && first.value.kind === 'line' && first.value.value['type'] === 'batch.started';
  const { faults, events, said } = isBatch ? await auditAll(all) : await auditOne(all);
  for (const fault of faults) await print(io.stderr, `${source}:${fault.line}: ${fault.reason}\n`);
  return conclude(faults.length, { events, said }, io);
};

async function conclude(
  faults: number,
  { events, said }: { events: number; said: string },
  io: Invocation['io'],
): Promise<number> {
  const broken = `broken: ${faults} ${faults === 1 ? 'fault' : 'faults'} in ${events} events\n`;
  await print(io.stdout, faults > 0 ? broken : `ok: ${events} events, ${said}\n`);
  return faults > 0 ? BROKEN : 0;
}

/** Its events, run after run, its notes, and the bytes of its outputs. */
async function auditThread(thread: StoredThread, io: Invocation['io']): Promise<number> {
  const { faults, events, outcome } = await auditEvents(thread.readEvents(), { severalRuns: true });
  const told = faults.map(({ line, reason }) => `events.jsonl:${line}: ${reason}`);
  for await (const fault of thread.checkNotes()) told.push(fault);
  for (const fault of told) await print(io.stderr, `${thread.id}: ${fault}\n`);
  return conclude(told.length, { events, said: `outcome ${outcome ?? 'unknown'}` }, io);
}

async function auditOne(lines: AsyncIterable<JsonLine>) {
  const report = await auditEvents(toEvents(lines));
  return { ...report, said: `outcome ${report.outcome ?? 'unknown'}` };
}

async function auditAll(lines: AsyncIterable<JsonLine>) {
  const { auditBatch } = await import('../../batch/index.ts');
  const report = await auditBatch(lines);
  return { ...report, said: `${report.runs} runs, ${report.jobs} jobs, exit code ${report.exitCode ?? 'unknown'}` };
}

async function* chain(first: JsonLine | null, rest: AsyncIterable<JsonLine>): AsyncGenerator<JsonLine> {
  if (first !== null) yield first;
  yield* rest;
}

async function* toEvents(lines: AsyncIterable<JsonLine>): AsyncGenerator<EventLine> {
  for await (const line of lines) yield parseEventLine(line);
}

/** A file that is not there, or cannot be read, is bad usage, not a broken stream. */
export async function requireReadable(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK);
    if ((await stat(path)).isDirectory()) throw new UsageError(`cannot read ${path}: it is a folder`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
