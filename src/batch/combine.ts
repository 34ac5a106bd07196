import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';
import type { Combination, JobRecord, Result } from '../events/index.ts';
import type { PatchStack } from '../workspace/index.ts';
import { sha256 } from './planned-job.ts';

export interface CombinePorts {
  /** A tree of the base that patches are put on. */
  openStack(base: string): Promise<{ stack: PatchStack; close(): Promise<void> }>;
  /** Judges the union of these jobs' patches: a patch on the base. */
  verify(about: { patch: Buffer; base: string; jobs: readonly string[] }): Promise<Result>;
  isInterrupted(): boolean;
}

export interface CombineOptions {
  /** In the order in which patches are put on. */
  records: readonly JobRecord[];
  /** Where `ID.patch` is when a record's own path is not there (another machine's); null: nowhere. */
  patches: string | null;
  /** Where the union goes. */
  file: string;
}

interface Candidate {
  id: string;
  patch: Buffer;
  files: readonly string[];
}

type LeftOut = Combination['left_out'][number];

/**
 * Puts the verified patches on their base one by one and verifies the union. Where that is red, it is built up again with a verification
 * after each, and what turns it red is left out. The union that is written was verified as it is.
 */
export async function combine(options: CombineOptions, ports: CombinePorts): Promise<Combination> {
  const verified = options.records.filter(({ result }) => result.verified && result.changes.files.length > 0);
  const base = commonBase(verified);
  const leftOut: LeftOut[] = [];
  const candidates: Candidate[] = [];
  for (const record of verified) {
    const patch = await readPatch(record, options.patches);
    if (record.result.changes.base_commit !== base) leftOut.push(out(record.job_id, 'other_base', []));
    else if (patch === null) leftOut.push(out(record.job_id, 'no_patch', []));
    else candidates.push({ id: record.job_id, patch, files: record.result.changes.files.map(({ path }) => path) });
  }
  const empty = { jobs: [], left_out: leftOut, patch: null, patch_sha256: null, base_commit: base, outcome: null };
  if (base === null || candidates.length === 0) return empty;
  const { stack, close } = await ports.openStack(base);
  try {
    const kept = await applyAll(stack, candidates, leftOut);
    const union = await settleUnion({ stack, kept, base, leftOut, ports });
    if (union.jobs.length === 0) return empty;
    const patch = await stack.diff();
    await writeFile(options.file, patch);
    return { ...empty, ...union, patch: options.file, patch_sha256: sha256(patch) };
  } finally {
    await close();
  }
}

async function applyAll(stack: PatchStack, candidates: readonly Candidate[], leftOut: LeftOut[]): Promise<Candidate[]> {
  const kept: Candidate[] = [];
  for (const candidate of candidates) {
    if (await stack.push(candidate.patch)) kept.push(candidate);
    else leftOut.push(out(candidate.id, 'does_not_apply', sharingFiles(candidate, kept)));
  }
  return kept;
}

interface Union {
  stack: PatchStack;
  kept: readonly Candidate[];
  base: string;
  leftOut: LeftOut[];
  ports: CombinePorts;
}

async function settleUnion(union: Union): Promise<Pick<Combination, 'jobs' | 'outcome'>> {
  const { stack, kept, base, leftOut, ports } = union;
  const ids = kept.map(({ id }) => id);
  const check = async (jobs: readonly string[]) => ports.verify({ patch: await stack.diff(), base, jobs });
  const whole = await check(ids);
  if (isGreen(whole)) return { jobs: ids, outcome: whole.outcome };
  for (const _ of kept) await stack.pop();
  const jobs: string[] = [];
  let outcome: Result['outcome'] | null = null;
  for (const { id, patch } of kept) {
    if (ports.isInterrupted()) {
      leftOut.push(out(id, 'interrupted', []));
      continue;
    }
    if (!(await stack.push(patch))) {
      leftOut.push(out(id, 'does_not_apply', []));
      continue;
    }
    const result = await check([...jobs, id]);
    if (isGreen(result)) {
      jobs.push(id);
      outcome = result.outcome;
      continue;
    }
    await stack.pop();
    leftOut.push(out(id, ports.isInterrupted() ? 'interrupted' : 'checks_fail', jobs));
  }
  return { jobs, outcome };
}

function isGreen({ outcome }: Result): boolean {
  return outcome === 'verified' || outcome === 'unchecked';
}

function out(id: string, reason: LeftOut['reason'], others: readonly string[]): LeftOut {
  return { job_id: id, reason, with: [...others] };
}

function sharingFiles({ files }: Candidate, others: readonly Candidate[]): string[] {
  return others.filter((other) => other.files.some((file) => files.includes(file))).map(({ id }) => id);
}

/** The base of most of them; of several, the first. */
function commonBase(records: readonly JobRecord[]): string | null {
  const counts = new Map<string, number>();
  for (const { result } of records) {
    const base = result.changes.base_commit;
    if (base !== null) counts.set(base, (counts.get(base) ?? 0) + 1);
  }
  return [...counts].reduce<[string, number] | null>((a, b) => (a === null || b[1] > a[1] ? b : a), null)?.[0] ?? null;
}

/** null when it is nowhere, or is not the one that was verified. */
async function readPatch({ job_id, result }: JobRecord, folder: string | null): Promise<Buffer | null> {
  const { patch, patch_sha256 } = result.changes;
  for (const path of [patch, folder === null ? null : join(folder, `${job_id}.patch`)]) {
    const bytes = path === null ? null : await readIfThere(path);
    if (bytes !== null && sha256(bytes) === patch_sha256) return bytes;
  }
  return null;
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
