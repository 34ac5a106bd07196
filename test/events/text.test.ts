import fc from 'fast-check';
import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import {
  createProgressLines,
  createStatusLine,
  createTextSink,
  disarmCommands,
  type EventBody,
  type Item,
  NO_COLORS,
  NO_USAGE,
  oneLine,
  renderDuration,
  renderEvent,
  renderTokens,
} from '../../src/events/index.ts';
import { sampleResult, WHOLE_RUN, write } from './sample-events.ts';

async function render(bodies: readonly EventBody[]): Promise<string> {
  const out: string[] = [];
  const sink = createTextSink({ colors: NO_COLORS, write: (text) => void out.push(text) });
  const { lines, events } = await write(bodies);
  for (const [i, event] of events.entries()) await sink.write(lines[i] ?? '', event);
  await sink.close();
  return out.join('');
}

const itemDone = (item: Item): EventBody => ({ type: 'item.completed', turn: 1, phase: 'agent', item });
const check = {
  ...{ name: 'tests', command: 'npm test', required: true, exit_code: 0, duration_ms: 12_345, output_sha256: null },
  ...{ output_tail: '', tests: null, reason: null },
} as const;
const verdict: EventBody = {
  type: 'run.completed',
  result: sampleResult({
    ...{ outcome: 'verified', exit_code: 0, verified: true, evidence: 'fixed', reason: 'all required checks pass' },
    message: 'Swapped the operator.\nNothing else.',
    checks: [
      { ...check, baseline: 'failed', final: 'passed', classification: 'fixed' },
      { ...check, name: 'types', required: false, baseline: null, final: 'timed_out', classification: 'still_failing' },
    ],
    changes: {
      ...sampleResult().changes,
      restored: false,
      patch: '/out/change.patch',
      files: [
        { path: 'add.sh', kind: 'update', added: 3, removed: 1, binary: false },
        { path: 'logo.png', kind: 'add', added: 0, removed: 0, binary: true },
      ],
    },
    review: [{ label: 'security', paths: ['auth/a.ts'] }],
    usage: { ...NO_USAGE, input_tokens: 12_000, cached_input_tokens: 8000, output_tokens: 345 },
    cost_usd: 0.0421,
    limits: { ...sampleResult().limits, turns: { used: 5, max: 40 } },
    duration_ms: 80_400,
  }),
};

describe('text for people', () => {
  it('takes time in proportion to what it is given, also where that is blanks', async () => {
    const blanks = `a${' '.repeat(900_000)}b`;
    const text = await render([itemDone({ id: 'i1', type: 'agent_message', status: 'completed', text: blanks })]);
    expect(text).toContain('a  ');
  });

  it('tells the output of a check that fails once more a single time', async () => {
    const run = (id: string, passed: boolean): EventBody => ({
      type: 'item.completed',
      turn: null,
      phase: 'verify',
      item: {
        ...{
          id,
          type: 'check',
          name: 'tests',
          command: 'npm test',
          required: true,
          status: passed ? 'completed' : 'failed',
        },
        ...{
          passed,
          exit_code: passed ? 0 : 1,
          duration_ms: 100,
          aggregated_output: 'FAILED\n',
          reason: 'ended with exit status 1',
        },
      },
    });
    const started: EventBody = { type: 'verification.started', attempt: 2, clean_room: false };
    expect(await render([run('a', false), run('b', false), started, run('c', false), run('d', true)])).toBe(
      `[verify] ✗ tests (ended with exit status 1) 0.1 s
  │ FAILED
[verify] ✗ tests, once more (ended with exit status 1) 0.1 s
checks, attempt 2
[verify] ✗ tests (ended with exit status 1) 0.1 s
  │ FAILED
[verify] ✓ tests, once more (ended with exit status 1) 0.1 s
`,
    );
  });

  it('tells a run in a few lines', async () => {
    expect(
      await render([...WHOLE_RUN.slice(0, -1), verdict]),
    ).toBe(`belay 0.0.0 · replay/m · sandbox bubblewrap, network none
goal: fix it
$ ls 0.0 s
│ Done.
checks, attempt 1, in the clean room
✓ all required checks pass

VERIFIED (exit 0) · evidence: fixed
  all required checks pass
  │ Swapped the operator.
  │ Nothing else.
  checks
    ✓ tests  red → green  12.3 s  fixed
    ✗ types  not run → red  12.3 s  still failing, optional
  changes   2 files, +3 -1
    M add.sh  +3 -1
    A logo.png  binary
  review    security: auth/a.ts
  used      $0.0421 · 12.3k tokens (12.0k in, 8.0k of them cached, 345 out) · 5 turns · 1 m 20 s
  patch     /out/change.patch
  thread    t_1
`);
  });

  it('shows the end of a failed output and why the command ended', async () => {
    const output = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n');
    const item: Item = {
      ...{ id: 'item_0', type: 'command_execution', status: 'timed_out', command: 'sleep 9' },
      ...{ aggregated_output: output, exit_code: null, reason: 'after 5 s', duration_ms: 5000 },
    };
    expect(await render([itemDone(item)])).toBe(
      `$ sleep 9 timed out (after 5 s) 5.0 s\n${Array.from({ length: 8 }, (_, i) => `  │ line ${i + 12}`).join('\n')}\n`,
    );
  });

  it('does not let foreign text forge a verdict, move the cursor or command a CI system', async () => {
    const attack =
      '\nVERIFIED (exit 0)\r\x1b[2J\x1b]0;title\x07\u009b1A\u202e::error::x\n::set-output name=a::b\n##[error]x ##vso[task.complete]\n';
    const bodies: EventBody[] = [
      itemDone({ id: 'item_0', type: 'agent_message', status: 'completed', text: attack }),
      itemDone({
        id: 'item_1',
        type: 'command_execution',
        status: 'failed',
        command: attack,
        aggregated_output: attack,
        exit_code: 1,
      }),
      itemDone({ id: 'item_2', type: 'denial', status: 'declined', action: attack, rule: attack, reason: attack }),
      itemDone({ id: 'item_3', type: 'file_change', status: 'completed', changes: [{ path: attack, kind: 'add' }] }),
      itemDone({ id: 'item_4', type: 'tool_call', status: 'completed', summary: attack, error: attack }),
      { type: 'error', code: attack, message: attack },
      {
        type: 'run.completed',
        result: sampleResult({
          ...{ reason: attack, message: attack, question: attack, risks: [attack], thread_id: attack },
          changes: {
            ...sampleResult().changes,
            patch: attack,
            files: [{ path: attack, kind: 'add', added: 0, removed: 0, binary: false }],
          },
          review: [{ label: attack, paths: [attack] }],
        }),
      },
    ];
    const text = await render(bodies);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text).not.toMatch(/^\s*::/m);
    expect(text).not.toMatch(/##\w*\[/);
    expect(text.split('\n').filter((line) => /^\S*VERIFIED/.test(line))).toEqual([]);
  });

  it('is coloured by what is passed in', async () => {
    const { events } = await write([verdict]);
    const text = renderEvent(events[0] ?? never(), pc.createColors(true));
    expect(text).toContain('\x1b[32mVERIFIED');
  });

  it('never lets a control character through oneLine', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(oneLine(text)).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
      }),
    );
  });

  it('leaves what is no command to a CI system as it is, however much of it there is', () => {
    const blanks = '\t \u00ad\u00a0'.repeat(20_000);
    for (const text of [
      blanks,
      `${blanks}:`,
      'a::b',
      'a\n :b:',
      '# #[x] ##',
      '#'.repeat(99_999),
      `##${'x'.repeat(99_999)}`,
    ])
      expect(disarmCommands(text)).toBe(text);
    expect(disarmCommands(`${blanks}::error::\r:\u200b:x ####vso[y]`)).toBe(
      `${blanks}: :error::\r:\u200b :x ### #vso[y]`,
    );
  });

  it('says quantities in words', () => {
    expect([0, 400, 59_940, 59_960, 65_000, 3_599_900, 7_380_000].map(renderDuration)).toEqual([
      ...['0.0 s', '0.4 s', '59.9 s', '1 m 00 s', '1 m 05 s', '1 h 00 m', '2 h 03 m'],
    ]);
    expect([999, 1000, 999_949, 999_950].map(renderTokens)).toEqual(['999', '1.0k', '999.9k', '1.0M']);
  });
});

describe('the status line', () => {
  const CLEAR = '\r\x1b[2K';

  it('is redrawn with every event, makes way for other text, and is gone at the end', async () => {
    const screen: string[] = [];
    const put = (text: string) => void screen.push(text);
    const status = createStatusLine({ write: put, columns: () => 41, clock: { now: () => 0 } });
    const { lines, events } = await write(WHOLE_RUN);
    for (const i of [2, 3]) await status.write(lines[i] ?? '', events[i] ?? never());
    await status.around(put, 'text\n');
    await status.write(lines[4] ?? '', events[4] ?? never());
    await status.close();
    await status.around(put, 'late\n');
    expect(screen).toEqual([
      `${CLEAR}turn 1 · 0 tokens · $0.00 · 0.0 s`,
      `${CLEAR}turn 1 · 0 tokens · $0.00 · 0.0 s · $ ls`,
      CLEAR,
      'text\n',
      `${CLEAR}turn 1 · 0 tokens · $0.00 · 0.0 s · $ ls`,
      `${CLEAR}turn 1 · 0 tokens · $0.00 · 0.0 s`,
      CLEAR,
      'late\n',
    ]);
  });

  it('never fills the last column, also with wide characters', async () => {
    const screen: string[] = [];
    const status = createStatusLine({
      write: (text) => void screen.push(text),
      columns: () => 43,
      clock: { now: () => 0 },
    });
    const { lines, events } = await write([
      {
        ...{ type: 'item.started', turn: 1, phase: 'agent' },
        item: {
          id: 'item_0',
          type: 'command_execution',
          status: 'in_progress',
          command: '日本語💥\x1b[2J',
          aggregated_output: '',
          exit_code: null,
        },
      },
    ]);
    await status.write(lines[0] ?? '', events[0] ?? never());
    await status.close();
    expect(screen[0]).toBe(`${CLEAR}turn 1 · 0 tokens · $0.00 · 0.0 s · $ 日…`);
  });
});

describe('progress without a terminal', () => {
  it('is a plain line after every turn and round', async () => {
    const out: string[] = [];
    const sink = createProgressLines({ write: (text) => void out.push(text), clock: { now: () => 0 } });
    const { lines, events } = await write(WHOLE_RUN);
    for (const [i, event] of events.entries()) await sink.write(lines[i] ?? '', event);
    expect(out).toEqual([
      'belay: turn 1 · 120 tokens · $0.0100 · 0.0 s\n',
      'belay: turn 1 · 120 tokens · $0.0100 · 0.0 s · checks pass\n',
    ]);
  });
});

function never(): never {
  throw new Error('no such event');
}
