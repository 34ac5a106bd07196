import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench } from '../scenario.ts';
import { runBatch } from './batch-run.ts';

let bench: Bench;
let cassette: string;
beforeAll(() => {
  bench = createBench({
    'belay.yml': JSON.stringify({ version: 1, sandbox: { mode: 'off' }, verify: { checks: [] } }),
    'src/a.js': 'a\n',
    'src/deep/b.js': 'b\n',
    'src/deep/a b, $(touch pwned).js': 'c\n',
    'src/not.ts': 'd\n',
  });
  commitAll(bench);
  bench.write('src/uncommitted.js', 'e\n');
  cassette = join(bench.io, 'cassette.jsonl');
  writeFileSync(cassette, `${JSON.stringify({ text: 'done', usage: { input_tokens: 10, output_tokens: 1 } })}\n`);
});
afterAll(() => bench.remove());

const batch = (...args: string[]) => runBatch(['--replay', cassette, ...args], bench);

describe('a template of a batch', () => {
  it('makes one job of each committed file that the patterns find, with the path in its goal', async () => {
    const end = await batch('--files', 'src/**/*.js', '--files', '!src/never/**', '--goal', 'Document {file}: {file}');
    const goals = end.events.flatMap((event) => (event.type === 'run.started' ? [event.goal?.text] : []));
    const files = ['src/a.js', 'src/deep/a b, $(touch pwned).js', 'src/deep/b.js'];
    expect(goals.sort()).toEqual(files.map((file) => `Document ${file}: ${file}`));
    expect(end.jobs.map(({ job_id }) => job_id.replace(/-[0-9a-f]{8}$/, '')).sort()).toEqual([
      'src-a.js',
      'src-deep-a-b-touch-pwned-.js',
      'src-deep-b.js',
    ]);
    expect([end.code, end.completed?.outcomes]).toEqual([0, { unchecked: 3 }]);
    expect(existsSync(join(bench.ws, 'pwned'))).toBe(false);

    // The same files are the same jobs.
    const again = await batch('--files', 'src/**/*.js', '--goal', 'Document {file}: {file}');
    expect([again.completed?.recorded, again.events]).toEqual([3, []]);
  });

  it.each([
    ['a goal that does not say where the path goes', ['--files', 'src/**', '--goal', 'Document it'], /\{file\}/],
    ['patterns that find nothing', ['--files', 'none/**', '--goal', '{file}'], /finds no file that is committed/],
    [
      'patterns that find only what is not committed',
      ['--files', 'src/uncommitted.js', '--goal', '{file}'],
      /finds no/,
    ],
    ['patterns that leave the folder', ['--files', '../**/*.js', '--goal', '{file}'], /finds no/],
    ['patterns without a goal', ['--files', 'src/**'], /goal/],
  ])('is refused with %s', async (_, args, message) => {
    const end = await batch(...args);
    expect([end.code, end.stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('is refused beside a job file', async () => {
    const file = join(bench.io, 'jobs.jsonl');
    writeFileSync(file, '{"id":"a","goal":"a"}\n');
    const end = await batch(file, '--files', 'src/**', '--goal', '{file}');
    expect([end.code, readdirSync(bench.io).sort()]).toEqual([2, ['cassette.jsonl', 'jobs.jsonl']]);
  });
});
