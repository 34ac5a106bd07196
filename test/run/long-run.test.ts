import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commitAll, createBench, runCli } from '../scenario.ts';

const TURNS = 600;
const WINDOW = 12_000;

it('a run of six hundred turns writes as much a turn at its end as at its beginning, and its context stays in the window', async () => {
  const model = { provider: 'openai-compatible', name: 'm', base_url: 'http://127.0.0.1:9/v1', context_window: WINDOW };
  const limits = { turns: TURNS + 100, tool_calls: TURNS + 100, tokens: 1_000_000_000, wall_time: '1h' };
  const bench = createBench({
    'belay.yml': JSON.stringify({ version: 1, model, limits, verify: { checks: [] } }),
    'part.txt': Array.from({ length: 100 }, (_, i) => `line ${i} of a file that is read again and again\n`).join(''),
  });
  try {
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    const reads = Array.from({ length: TURNS }, (_, i) => ({
      text: `Step ${i}. ${'So it goes on. '.repeat(20)}`,
      tool_calls: [{ name: 'read_file', input: { path: 'part.txt', offset: 1 + (i % 50), limit: 40 } }],
    }));
    writeFileSync(cassette, [...reads, { text: 'That is all.' }].map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { events, result } = await runCli(['run', 'go on', '--replay', cassette], bench);
    expect(result).toMatchObject({ outcome: 'unchecked' });

    const compacted = events.flatMap((event) => (event.type === 'context.compacted' ? [event] : []));
    expect(new Set(compacted.map(({ kind }) => kind))).toEqual(new Set(['elide', 'summarize']));
    expect(
      compacted.filter(({ before_tokens, after_tokens }) => before_tokens > WINDOW || after_tokens > 0.85 * WINDOW),
    ).toEqual([]);

    // Bytes of the stream by turn; each hundredth counts what was written since the last one.
    const size = (from: number, to: number) =>
      events
        .filter((event) => 'turn' in event && event.turn !== null && event.turn > from && event.turn <= to)
        .reduce((sum, event) => sum + JSON.stringify(event).length, 0);
    expect(size(500, 600) / size(100, 200)).toBeLessThan(1.1);

    const [thread = ''] = readdirSync(join(bench.root, 'state/belay/threads'));
    const notes = statSync(join(bench.root, 'state/belay/threads', thread, 'notes.jsonl')).size;
    // A read and its line in the log take some 3 KiB; a note that told the past anew would take ten times that.
    expect(notes / TURNS).toBeLessThan(8 * 1024);
  } finally {
    bench.remove();
  }
}, 180_000);
