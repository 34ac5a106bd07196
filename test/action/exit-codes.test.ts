import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { exitCodeOf, isJudged, Outcome } from '../../src/events/index.ts';
import { ROOT } from './workflow-file.ts';

const codeOf = (outcome: Outcome) => exitCodeOf(outcome, { checksDeclaredEmpty: false });
/** Signals and a reader that left are exit codes of their own. */
const CODES = [...new Set(Outcome.options.map(codeOf)), 141, 143];
/** Verdicts about jobs: the batch did its work. */
const VERDICTS = Outcome.options.filter(isJudged).map(codeOf);
const readYaml = (path: string): unknown => parse(readFileSync(join(ROOT, path), 'utf8'));
const sorted = (codes: readonly number[]) => [...codes].sort((a, b) => a - b);

describe('exit codes, as the examples read them', () => {
  it('Kubernetes ends a shard whose jobs have their verdicts, and the whole Job where no pod could do better', () => {
    const Manifest = z.object({
      spec: z.object({
        podFailurePolicy: z.object({
          rules: z.array(
            z.object({
              action: z.string(),
              onExitCodes: z.object({ operator: z.literal('In'), values: z.array(z.int()) }).optional(),
            }),
          ),
        }),
      }),
    });
    const { rules } = Manifest.parse(readYaml('examples/kubernetes/nightly-batch.yaml')).spec.podFailurePolicy;
    const codesOf = (action: string) =>
      sorted(rules.filter((rule) => rule.action === action).flatMap((rule) => rule.onExitCodes?.values ?? []));
    expect({ failIndex: codesOf('FailIndex'), failJob: codesOf('FailJob') }).toEqual({
      failIndex: sorted(VERDICTS.filter((code) => code !== 0)),
      failJob: sorted([codeOf('usage_error'), codeOf('sandbox_unavailable')]),
    });
  });

  it('the nightly workflow goes on with verdicts, and fails with everything else', () => {
    const Workflow = z.object({
      jobs: z.object({ agent: z.object({ steps: z.array(z.object({ run: z.string().optional() })) }) }),
    });
    const { steps } = Workflow.parse(readYaml('examples/workflows/nightly-batch.yml')).jobs.agent;
    const line = steps.flatMap(({ run }) => run?.split('\n') ?? []).find((one) => one.startsWith('case "$code"'));
    const ends = CODES.map((code) => [code, spawnSync('bash', ['-c', `code=${code}\n${line}`]).status]);
    expect(ends).toEqual(CODES.map((code) => [code, VERDICTS.includes(code) ? 0 : code]));
  });

  it('docs/exit-codes.md has each, once', () => {
    const text = readFileSync(join(ROOT, 'docs/exit-codes.md'), 'utf8');
    const rows = [...text.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, code, outcome]) => [outcome, Number(code)]);
    const mine = Outcome.options.filter((one) => one !== 'unchecked' && one !== 'interrupted');
    expect(rows.filter(([outcome]) => mine.some((one) => one === outcome)).sort()).toEqual(
      mine.map((outcome) => [outcome, codeOf(outcome)]).sort(),
    );
  });
});
