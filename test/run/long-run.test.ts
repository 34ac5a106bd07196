import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commitAll, createBench, runCli } from '../scenario.ts';

const TURNS = 1000;
/** Of a model that no table knows. */
const WINDOW = 128_000;
const HOOK = join(import.meta.dirname, 'memory-hook.mjs');
const MiB = 1024 * 1024;

it('a run of a thousand turns holds, writes and sends as much at its end as at its beginning', async () => {
  const model = { provider: 'openai-compatible', name: 'm', base_url: 'http://127.0.0.1:9/v1' };
  const limits = { turns: TURNS + 100, tool_calls: TURNS + 100, tokens: 1_000_000_000, wall_time: '1h' };
  const bench = createBench({
    'belay.yml': JSON.stringify({ version: 1, model, limits, verify: { checks: [] } }),
    'part.txt': Array.from({ length: 100 }, (_, i) => `line ${i} of a file that is read again and again\n`).join(''),
  });
  try {
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    const reads = Array.from({ length: TURNS }, (_, i) => ({
      text: `Step ${i}. ${'So it goes on. '.repeat(60)}`,
      tool_calls: [{ name: 'read_file', input: { path: 'part.txt', offset: 1 + (i % 50), limit: 50 } }],
    }));
    writeFileSync(cassette, [...reads, { text: 'That is all.' }].map((line) => `${JSON.stringify(line)}\n`).join(''));
    const memory = join(bench.io, 'memory');
    const env = { NODE_OPTIONS: `--import ${HOOK}`, MEMORY_LOG: memory };
    const { events, result } = await runCli(['run', 'go on', '--replay', cassette], bench, { env });
    expect(result).toMatchObject({ outcome: 'unchecked' });

    const compacted = events.flatMap((event) => (event.type === 'context.compacted' ? [event] : []));
    expect(new Set(compacted.map(({ kind }) => kind))).toEqual(new Set(['elide', 'summarize']));
    expect(
      compacted.filter(({ before_tokens, after_tokens }) => before_tokens > WINDOW || after_tokens > 0.85 * WINDOW),
    ).toEqual([]);

    // What is alive grows with the window, and no longer once that was full.
    const alive = readFileSync(memory, 'utf8').trimEnd().split('\n').map(Number);
    expect(alive.length).toBeGreaterThanOrEqual(TURNS / 100);
    expect(Math.max(...alive.slice(5)) - Math.max(...alive.slice(0, 5))).toBeLessThan(3 * MiB);

    // Bytes of the stream by turn; each hundredth counts what was written since the last one.
    const size = (from: number, to: number) =>
      events
        .filter((event) => 'turn' in event && event.turn !== null && event.turn > from && event.turn <= to)
        .reduce((sum, event) => sum + JSON.stringify(event).length, 0);
    expect(size(900, 1000) / size(100, 200)).toBeLessThan(1.1);

    const [thread = ''] = readdirSync(join(bench.root, 'state/belay/threads'));
    const notes = statSync(join(bench.root, 'state/belay/threads', thread, 'notes.jsonl')).size;
    // A read and its line in the log take some 6 KiB; a note that told the past anew would take fifty times that.
    expect(notes / TURNS).toBeLessThan(12 * 1024);
  } finally {
    bench.remove();
  }
}, 240_000);
