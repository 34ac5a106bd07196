import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  CheckStatus,
  Classification,
  Event,
  eventsSchema,
  Item,
  ItemStatus,
  Job,
  jobSchema,
  LimitName,
  Outcome,
  Phase,
  resultSchema,
} from '../../src/events/index.ts';
import { VOCABULARY } from '../../src/events/vocabulary.ts';
import { sampleResult, WHOLE_RUN, write } from './sample-events.ts';

const compile = (schema: Record<string, unknown>) => new Ajv2020({ strict: false }).compile(schema);

describe('the published schemas', () => {
  it('name themselves', () => {
    for (const schema of [eventsSchema(), resultSchema(), jobSchema()]) {
      expect(schema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: expect.stringMatching(/^belay/),
      });
    }
  });

  it('accept the events that a stream writes, and none without its envelope', async () => {
    const isEvent = compile(eventsSchema());
    const { lines } = await write(WHOLE_RUN);
    for (const line of lines) {
      const event = JSON.parse(line);
      expect([isEvent(event), isEvent.errors]).toEqual([true, null]);
      for (const key of ['v', 'seq', 'time', 'run_id', 'prev', 'type']) {
        const { [key]: _, ...broken } = event;
        expect(isEvent(broken)).toBe(false);
      }
      expect(isEvent({ ...event, extra: 1 })).toBe(false);
    }
  });

  it('accept a result, and no unknown outcome', () => {
    const isResult = compile(resultSchema());
    expect(isResult(sampleResult())).toBe(true);
    expect(isResult({ ...sampleResult(), outcome: 'splendid' })).toBe(false);
  });

  it('agree with the reader on what a job is', () => {
    const isJob = compile(jobSchema());
    const good = [
      { id: 'a', goal: 'g' },
      {
        id: 'a.b-1',
        goal_file: 'g.md',
        policy: 'p.yml',
        ref: 'main',
        context: ['c.md'],
        limits: { turns: 3, wall_time: '5m' },
      },
    ];
    const bad = [
      { id: 'a' },
      { id: 'a', goal: 'g', goal_file: 'f' },
      { goal: 'g' },
      { id: '../a', goal: 'g' },
      { id: 'a', goal: 'g', limits: { turn: 1 } },
    ];
    for (const [jobs, verdict] of [
      [good, true],
      [bad, false],
    ] as const) {
      for (const job of jobs) expect([isJob(job), Job.safeParse(job).success]).toEqual([verdict, verdict]);
    }
  });
});

describe('the words that are never redacted', () => {
  it('are those of the schemas, and the few that stand in no list of them', () => {
    const listed = [
      ...Event.options.map((event) => event.shape.type.value),
      ...Item.options.map((item) => item.shape.type.value),
      ...[ItemStatus, Phase, Outcome, CheckStatus, Classification, LimitName].flatMap(
        (words): string[] => words.options,
      ),
    ];
    const single = 'add update delete kept none elide summarize approved denied base belay.result/v1'.split(' ');
    expect([...VOCABULARY].sort()).toEqual([...new Set([...listed, ...single])].sort());
  });
});
