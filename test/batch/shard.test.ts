import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planMatrix } from '../../src/batch/plan-matrix.ts';
import { readShard, takeShard } from '../../src/batch/shard.ts';

const read = (env: Record<string, string>, more: { text?: string; count?: number } = {}) =>
  readShard({
    given: more.text === undefined ? null : { text: more.text, origin: 'option --shard' },
    count: more.count ?? null,
    env,
  });

describe('shards', () => {
  it('put every job into exactly one, in order, and differ by one job at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 40 }), (count, total) => {
        const jobs = Array.from({ length: count }, (_, at) => at);
        const shards = Array.from({ length: total }, (_, at) => takeShard(jobs, { index: at + 1, total }));
        const sizes = shards.map((shard) => shard.length);
        expect(shards.flat().sort((a, b) => a - b)).toEqual(jobs);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('are everything where nothing says otherwise', () => {
    expect(read({})).toEqual({ index: 1, total: 1 });
    // GitLab sets the total for every job, the index only for parallel ones.
    expect(read({ CI_NODE_TOTAL: '1' })).toEqual({ index: 1, total: 1 });
  });

  it.each([
    ['a Kubernetes Indexed Job', { JOB_COMPLETION_INDEX: '0', JOB_COMPLETION_COUNT: '3' }, { index: 1, total: 3 }],
    ['GitLab', { CI_NODE_INDEX: '3', CI_NODE_TOTAL: '3' }, { index: 3, total: 3 }],
    ['CircleCI', { CIRCLE_NODE_INDEX: '1', CIRCLE_NODE_TOTAL: '4' }, { index: 2, total: 4 }],
    ['Buildkite', { BUILDKITE_PARALLEL_JOB: '2', BUILDKITE_PARALLEL_JOB_COUNT: '3' }, { index: 3, total: 3 }],
    ['AWS Batch', { AWS_BATCH_JOB_ARRAY_INDEX: '0', AWS_BATCH_JOB_ARRAY_SIZE: '2' }, { index: 1, total: 2 }],
    [
      'SLURM with --array=10-20:5',
      {
        SLURM_ARRAY_TASK_ID: '20',
        SLURM_ARRAY_TASK_MIN: '10',
        SLURM_ARRAY_TASK_MAX: '20',
        SLURM_ARRAY_TASK_STEP: '5',
        SLURM_ARRAY_TASK_COUNT: '3',
      },
      { index: 3, total: 3 },
    ],
  ])('are read from %s', (_engine, env, shard) => {
    expect(read(env)).toEqual(shard);
  });

  it('take the count of an indexed job from --shards where the engine does not say it', () => {
    expect(read({ JOB_COMPLETION_INDEX: '2' }, { count: 5 })).toEqual({ index: 3, total: 5 });
    expect(() => read({ JOB_COMPLETION_INDEX: '2' })).toThrow(/JOB_COMPLETION_COUNT/);
  });

  it('prefer --shard to the engine', () => {
    expect(read({ CI_NODE_INDEX: '1', CI_NODE_TOTAL: '2' }, { text: '2/7' })).toEqual({ index: 2, total: 7 });
  });

  it.each([['0/3'], ['4/3'], ['1'], ['1/0'], ['a/b'], ['1/3/5'], ['-1/3'], ['1.5/3']])('refuse --shard %s', (text) => {
    expect(() => read({}, { text })).toThrow(/--shard/);
  });

  it('refuse an uneven SLURM array, and counts that do not agree', () => {
    const uneven = { SLURM_ARRAY_TASK_ID: '3', SLURM_ARRAY_TASK_MIN: '1', SLURM_ARRAY_TASK_MAX: '7' };
    expect(() => read({ ...uneven, SLURM_ARRAY_TASK_COUNT: '3' })).toThrow(/even/);
    expect(() => read({}, { text: '1/3', count: 4 })).toThrow(/agree/);
    expect(() => read({ CI_NODE_INDEX: '1', CI_NODE_TOTAL: '2' }, { count: 3 })).toThrow(/agree/);
    expect(() => read({}, { count: 3 })).toThrow(/--shard I\/N/);
  });
});

describe('a matrix', () => {
  it('has an entry a shard, whose jobs add up, and never more than 256', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.option(fc.integer({ min: 1, max: 256 })), (jobs, shards) => {
        const { include } = planMatrix(jobs, shards);
        expect(include.length).toBe(Math.min(jobs, shards ?? 256));
        const all = Array.from({ length: jobs }, (_, at) => at);
        expect(include.map((entry) => entry.jobs)).toEqual(
          include.map(({ index, total }) => takeShard(all, { index, total }).length),
        );
      }),
    );
    expect(() => planMatrix(1000, 257)).toThrow(/256/);
  });
});
