import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { expand, holds, type Scope, type Value } from './expression.ts';
import { type Runner, runSteps, type StepsEnd, stepsContext } from './runner.ts';
import { ROOT, Step } from './workflow-file.ts';

const Scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const Job = z.looseObject({
  if: Scalar.optional(),
  permissions: z.record(z.string(), z.string()).optional(),
  outputs: z.record(z.string(), Scalar).default({}),
  strategy: z.looseObject({ matrix: Scalar }).optional(),
  steps: z.array(Step),
});
const Workflow = z.looseObject({ jobs: z.record(z.string(), Job) });

export interface JobContexts {
  /** Ends of the jobs before. */
  needs?: Readonly<Record<string, JobEnd>>;
  matrix?: Value;
  inputs?: Value;
  secrets?: Value;
}

export interface JobEnd {
  result: 'success' | 'failure' | 'skipped';
  outputs: Record<string, string>;
  end: StepsEnd | null;
  permissions: Readonly<Record<string, string>>;
}

/** Runs one job of a workflow file on a runner of its own. */
export async function runJob(
  runner: Runner,
  { file, job: name, needs = {}, ...others }: JobContexts & { file: string; job: string },
): Promise<JobEnd> {
  const job = Workflow.parse(parse(readFileSync(join(ROOT, file), 'utf8'))).jobs[name];
  if (job === undefined) throw new Error(`${file} has no job ${name}`);
  const ends = Object.entries(needs).map(([key, { result, outputs }]) => [key, { result, outputs }]);
  const contexts: Record<string, Value> = {
    inputs: {},
    secrets: {},
    matrix: {},
    ...others,
    needs: Object.fromEntries(ends),
  };
  const failed = Object.values(needs).some(({ result }) => result !== 'success');
  const permissions = job.permissions ?? {};
  const before: Scope = { failed, contexts: { ...contexts, github: runner.github } };
  if (!holds(job.if, before)) return { result: 'skipped', outputs: {}, end: null, permissions };
  const end = await runSteps(runner, job.steps, { contexts, env: {}, actionPath: null });
  const after: Scope = { failed: false, contexts: { ...before.contexts, steps: stepsContext(end) } };
  const outputs = Object.entries(job.outputs).map(([key, text]) => [key, expand(text, after)]);
  return { result: end.failed ? 'failure' : 'success', outputs: Object.fromEntries(outputs), end, permissions };
}

/** The entries of the job's matrix. */
export function matrixOf(file: string, name: string, needs: Readonly<Record<string, JobEnd>>): Value[] {
  const job = Workflow.parse(parse(readFileSync(join(ROOT, file), 'utf8'))).jobs[name];
  const ends = Object.entries(needs).map(([key, { outputs }]) => [key, { outputs }]);
  const scope = { failed: false, contexts: { needs: Object.fromEntries(ends) } };
  const matrix = z
    .looseObject({ include: z.array(z.json()) })
    .parse(JSON.parse(expand(job?.strategy?.matrix ?? '', scope)));
  return matrix.include;
}
