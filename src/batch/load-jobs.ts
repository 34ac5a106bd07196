import { readFile } from 'node:fs/promises';
import type * as z from 'zod';
import { UsageError } from '../errors.ts';
import { Job, jsonOf, oneLine } from '../events/index.ts';
import { nearestName } from '../policy/index.ts';

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_FAULTS = 20;
/** More than any nightly batch; a list by mistake ends early. */
const MOST_JOBS = 100_000;

/** A job as it was written, and where: `jobs.jsonl:3`. */
export interface JobLine {
  job: Job;
  where: string;
}

/**
 * Reads a job file: JSON Lines, one job a line; blank lines and a missing last newline are no fault. Throws UsageError that lists every
 * bad line as `FILE:LINE: what`. `source` is the name in messages.
 */
export async function loadJobs(path: string, source: string): Promise<JobLine[]> {
  return parseJobs(await readJobFile(path, source), source);
}

async function readJobFile(path: string, source: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new UsageError(`cannot read ${source}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (bytes.length > MOST_BYTES) throw new UsageError(`${source}: a job file has at most ${MOST_BYTES} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UsageError(`${source}: the job file is not UTF-8`, { cause: error });
  }
}

export function parseJobs(text: string, source: string): JobLine[] {
  const jobs: JobLine[] = [];
  const faults: string[] = [];
  const firstOf = new Map<string, string>();
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const where = `${source}:${at + 1}`;
    const parsed = parseLine(line);
    if (!parsed.ok) {
      faults.push(`${where}: ${parsed.fault}`);
      continue;
    }
    const earlier = firstOf.get(parsed.job.id);
    if (earlier !== undefined) faults.push(`${where}: the id ${JSON.stringify(parsed.job.id)} is that of ${earlier}`);
    else firstOf.set(parsed.job.id, where);
    jobs.push({ job: parsed.job, where });
  }
  refuseFaults(faults);
  if (jobs.length === 0) throw new UsageError(`${source}: there is no job in it`);
  if (jobs.length > MOST_JOBS) throw new UsageError(`${source}: ${jobs.length} jobs, more than ${MOST_JOBS}`);
  return jobs;
}

/** Throws all faults at once: a batch is mended in one go. */
export function refuseFaults(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const more = faults.length - MOST_FAULTS;
  const shown = faults.slice(0, MOST_FAULTS).join('\n');
  throw new UsageError(more > 0 ? `${shown}\n(and ${more} more)` : shown, { code: 'jobs' });
}

type Parsed = { ok: true; job: Job } | { ok: false; fault: string };

function parseLine(line: string): Parsed {
  const value = jsonOf(line);
  if (value === undefined) return { ok: false, fault: 'the line is not JSON' };
  const parsed = Job.safeParse(value);
  return parsed.success ? { ok: true, job: parsed.data } : { ok: false, fault: describe(parsed.error) };
}

function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, 3)
    .map((issue) => {
      const { path } = issue;
      const message = issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys, path) : issue.message;
      return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
    })
    .join('; ')
    .slice(0, 500);
}

/** The keys as they are in the file, each with the one that was probably meant. */
function unknownKeys(keys: readonly string[], path: readonly PropertyKey[]): string {
  const known = Object.keys(path[0] === 'limits' ? Job.shape.limits.unwrap().shape : Job.shape);
  const told = keys.map((key) => {
    const near = nearestName(key, known);
    return `there is no key ${oneLine(key, 80)}${near === null ? '' : `; did you mean ${near}?`}`;
  });
  return told.join('; ');
}
