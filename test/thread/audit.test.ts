import { describe, expect, it } from 'vitest';
import { type EventBody, NO_USAGE, readEvents } from '../../src/events/index.ts';
import { auditEvents } from '../../src/thread/index.ts';
import { sampleResult, WHOLE_RUN, write } from '../events/sample-events.ts';

const audit = (lines: readonly string[], options?: { severalRuns?: boolean }) =>
  auditEvents(readEvents([Buffer.from(lines.join(''))]), options);
const whole = async () => (await write(WHOLE_RUN)).lines;
const auditBodies = async (bodies: readonly EventBody[]) => audit((await write(bodies)).lines);
const without = (type: string) => WHOLE_RUN.filter((body) => body.type !== type);

describe('auditEvents', () => {
  it('finds nothing wrong with a whole stream', async () => {
    expect(await audit(await whole())).toEqual({ ok: true, faults: [], events: WHOLE_RUN.length, outcome: 'gave_up' });
  });

  const tampered: Record<string, [(lines: string[]) => string[], { line: number; reason: string | RegExp }]> = {
    'an edited line': [
      (l) => l.map((line, i) => (i === 4 ? line.replace('"exit_code":0', '"exit_code":1') : line)),
      { line: 6, reason: 'prev is not the sha-256 of the line before' },
    ],
    'a dropped line': [(l) => l.filter((_, i) => i !== 5), { line: 6, reason: 'seq is 6, not 5' }],
    'swapped lines': [
      (l) => [...l.slice(0, 7), l[8] ?? '', l[7] ?? '', ...l.slice(9)],
      { line: 8, reason: 'seq is 8, not 7' },
    ],
    'no terminal event': [
      (l) => l.slice(0, -1),
      { line: 9, reason: 'there is no run.completed: the stream was cut off' },
    ],
    'a second terminal event': [
      (l) => [...l, l.at(-1) ?? ''],
      { line: 11, reason: 'run.completed after run.completed' },
    ],
    'a missing start': [(l) => l.slice(1), { line: 1, reason: 'the first event is thread.started, not run.started' }],
    'a torn last line': [(l) => [...l.slice(0, -1), l.at(-1)?.slice(0, 50) ?? ''], { line: 10, reason: /no newline/ }],
    'a line of another run': [
      (l) => l.map((line, i) => (i === 9 ? line.replace('"run_id":"r_1"', '"run_id":"r_2"') : line)),
      { line: 10, reason: 'run_id differs from the one before' },
    ],
    'a foreign line': [(l) => [...l.slice(0, 2), '{"a":1}\n', ...l.slice(2)], { line: 3, reason: /schema/ }],
    'nothing at all': [() => [], { line: 0, reason: 'there is no event' }],
  };
  for (const [name, [tamper, fault]] of Object.entries(tampered)) {
    it(`finds ${name}`, async () => {
      const report = await audit(tamper(await whole()));
      expect(report.ok).toBe(false);
      expect(report.faults).toContainEqual({
        line: fault.line,
        reason: typeof fault.reason === 'string' ? fault.reason : expect.stringMatching(fault.reason),
      });
    });
  }

  it('finds an item that was never completed, completed twice or left in progress', async () => {
    const [completed] = WHOLE_RUN.filter((body) => body.type === 'item.completed');
    if (completed?.type !== 'item.completed') throw new Error('no item in the sample');
    expect((await auditBodies(without('item.completed'))).faults).toEqual([
      { line: 8, reason: 'started, but never completed: item_0' },
    ]);
    const at = WHOLE_RUN.indexOf(completed) + 1;
    expect((await auditBodies([...WHOLE_RUN.slice(0, at), completed, ...WHOLE_RUN.slice(at)])).faults).toEqual([
      { line: 6, reason: 'item_0 is used twice' },
    ]);
    const open: EventBody = { ...completed, item: { ...completed.item, status: 'in_progress' } };
    expect((await auditBodies(WHOLE_RUN.map((body) => (body === completed ? open : body)))).faults).toEqual([
      { line: 5, reason: 'item_0 is completed, but in progress' },
    ]);
  });

  it('keeps no more than a thousand open items, and says so', async () => {
    const started = WHOLE_RUN.find((body) => body.type === 'item.started');
    if (started?.type !== 'item.started') throw new Error('no item in the sample');
    const many = Array.from(
      { length: 1_010 },
      (_, at): EventBody => ({
        ...started,
        item: { ...started.item, id: `item_${at + 7}` },
      }),
    );
    const { faults } = await auditBodies([...WHOLE_RUN.slice(0, -1), ...many, ...WHOLE_RUN.slice(-1)]);
    expect(faults.map(({ reason }) => reason)).toEqual([
      'more than 1000 items are open at once',
      expect.stringMatching(/^started, but never completed: item_7, /),
    ]);
  });

  it('finds usage that is not the sum of the turns', async () => {
    const more = { ...NO_USAGE, input_tokens: 101, output_tokens: 20, requests: 1 };
    const turns = WHOLE_RUN.map((body) => (body.type === 'turn.completed' ? { ...body, total_usage: more } : body));
    expect((await auditBodies(turns)).faults).toEqual([
      { line: 7, reason: 'total_usage is not the sum of the turns' },
      { line: 10, reason: 'the usage of the result is not the sum of the turns' },
    ]);
    const end = WHOLE_RUN.map(
      (body): EventBody => (body.type === 'run.completed' ? { ...body, result: sampleResult({ usage: more }) } : body),
    );
    expect((await auditBodies(end)).faults).toEqual([
      { line: 10, reason: 'the usage of the result is not the sum of the turns' },
    ]);
  });

  it('takes the runs of a thread one by one, the first of them killed', async () => {
    const killed = (await whole()).slice(0, 4);
    const [start, ...rest] = WHOLE_RUN;
    if (start?.type !== 'run.started') throw new Error('no start in the sample');
    const { lines } = await write([{ ...start, resumed_from: 'r_1' }, ...rest], 'r_2');
    expect(await audit([...killed, ...lines], { severalRuns: true })).toMatchObject({ ok: true, events: 14 });
    expect((await audit([...killed, ...lines])).ok).toBe(false);
    expect((await audit([...lines, ...killed], { severalRuns: true })).faults.map((fault) => fault.line)).toEqual([
      14, 14,
    ]);
  });

  it('tells at most a hundred faults and the end', async () => {
    const report = await audit(Array.from({ length: 5000 }, () => 'junk\n'));
    expect([report.faults.length, report.events]).toEqual([101, 0]);
  });
});
