import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';
import { createMachine, entriesOf, renderFile, type ThreadFileParts } from './forge-thread.ts';

const POLICY = 'version: 1\nverify: {checks: []}\n';
let bench: Bench;
let id: string;
let file: string;
let bytes: Buffer;

const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const commands = ['seq 1 20000; echo 1 > one.txt', 'echo 2 > two.txt'];
const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');

beforeAll(async () => {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': POLICY });
  commitAll(bench);
  const cassette = join(bench.io, 'model.jsonl');
  const calls = commands.map((command) => answer('shell', { command })).join('');
  writeFileSync(cassette, calls + answer('finish', { status: 'done', summary: 'done' }));
  const { result } = await runCli(['run', 'write files', '--replay', cassette], bench);
  id = result?.thread_id ?? '';
  file = join(bench.io, 'thread.belay');
  const { code, stderr } = await runCli(['thread', 'export', id, file], bench);
  if (code !== 0) throw new Error(stderr);
  bytes = gunzipSync(readFileSync(file));
}, 60_000);
afterAll(() => bench.remove());

const forge = (change: (parts: ThreadFileParts) => void) => {
  const parts = entriesOf(bytes);
  change(parts);
  return renderFile(parts);
};

const replaced = (name: string, from: string | RegExp, to: string) =>
  forge(({ entries }) => {
    const entry = entries.find((one) => one.name === name);
    if (entry !== undefined) entry.bytes = Buffer.from(entry.bytes.toString('latin1').replace(from, to), 'latin1');
  });

describe('belay thread export and import', () => {
  it('carry a thread to another machine, where all of it is there', async () => {
    const other = createMachine(bench, 'other');
    const imported = await other.thread('import', file);
    expect(imported).toMatchObject({ code: 0, stdout: `${id}\n` });
    const shown = JSON.parse((await other.thread('show', id, '--json')).stdout);
    const here = JSON.parse((await runCli(['thread', 'show', id, '--json'], bench)).stdout);
    expect(shown).toEqual({ ...here, workspace: other.ws });
    expect((await other.thread('diff', id)).stdout).toBe((await runCli(['thread', 'diff', id], bench)).stdout);
    expect((await other.thread('rollback', id, '--to-turn', '2')).code).toBe(0);
    expect(treeOf(other.ws)).toEqual(treeOf(bench.ws));
    const outputs = entriesOf(bytes).entries.filter((entry) => /^(outputs|blobs)/.test(entry.name));
    expect(outputs.map((entry) => entry.name)).toEqual(outputs.map((entry) => `blobs/sha256/${sha256(entry.bytes)}`));
    expect(outputs).toHaveLength(1);
    expect(await other.thread('import', file)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is here already/),
    });
    expect(other.threads()).toEqual([id]);
  }, 60_000);

  it('take nothing from a file that is not whole, or not what it says', async () => {
    const other = createMachine(bench, 'strict');
    const cases: [string, Buffer | string, RegExp][] = [
      ['no gzip', 'text', /not gzip/],
      ['cut gzip', readFileSync(file).subarray(0, 2000), /gzip|cut off/],
      ['cut off', gzipSync(bytes.subarray(0, bytes.length - 200)), /cut off|digest|line/],
      ['more behind the end', gzipSync(Buffer.concat([bytes, bytes])), /behind its end/],
      [
        'a digest of something else',
        gzipSync(Buffer.from(bytes.toString('latin1').replace('write files', 'write felis'), 'latin1')),
        /digest/,
      ],
      [
        'a name that leads out',
        gzipSync(forge(({ entries }) => entries.push({ name: '../../evil', bytes: Buffer.from('x') }))),
        /\.\.\/\.\.\/evil/,
      ],
      [
        'a hook',
        gzipSync(
          forge(({ entries }) => entries.push({ name: 'store.git/hooks/post-checkout', bytes: Buffer.from('x') })),
        ),
        /hooks/,
      ],
      ['an entry twice', gzipSync(forge(({ entries }) => entries.push(...entries.slice(0, 1)))), /meta\.json/],
      [
        'an id that is a path',
        gzipSync(forge((parts) => Object.assign(parts.header, { thread_id: '../../../evil' }))),
        /no name for a thread/,
      ],
      [
        'a later format',
        gzipSync(forge((parts) => Object.assign(parts.header, { belay_thread_file: 9, belay_version: '7.0.0' }))),
        /format 9.*belay 7\.0\.0/,
      ],
      [
        'altered events',
        gzipSync(replaced('events.jsonl', '"turn":1', '"turn":7')),
        /events\.jsonl, line \d+ does not follow/,
      ],
      ['altered notes', gzipSync(replaced('notes.jsonl', 'write files', 'write felis')), /notes\.jsonl/],
      [
        'facts that lead out',
        gzipSync(replaced('snapshots/start.json', '"emptyFolders":[]', '"emptyFolders":["../../evil"]')),
        /holds no snapshots/,
      ],
      [
        'a damaged pack',
        gzipSync(forge(({ entries }) => entries.find((one) => one.name.endsWith('.pack'))?.bytes.fill(0, 40, 60))),
        /git refuses/,
      ],
      [
        'no pack',
        gzipSync(
          forge((parts) => {
            parts.entries = parts.entries.filter((one) => !one.name.endsWith('.pack'));
          }),
        ),
        /not whole/,
      ],
      [
        'an altered output',
        gzipSync(forge(({ entries }) => entries.find((one) => one.name.startsWith('blobs/'))?.bytes.fill(0, 0, 1))),
        /output o1 was changed/,
      ],
      [
        'no output',
        gzipSync(
          forge((parts) => {
            parts.entries = parts.entries.filter((one) => !one.name.startsWith('blobs/'));
          }),
        ),
        /output o1 is gone/,
      ],
      ['another thread', gzipSync(replaced('meta.json', id, id.replace(/.$/, 'z'))), /another thread/],
    ];
    for (const [name, content, message] of cases) {
      const path = join(bench.io, 'bad.belay');
      writeFileSync(path, content);
      const end = await other.thread('import', path);
      expect([name, end]).toEqual([name, expect.objectContaining({ code: 2, stderr: expect.stringMatching(message) })]);
      expect([name, other.threads()]).toEqual([name, []]);
    }
    expect(existsSync(join(bench.root, 'evil'))).toBe(false);
    const bomb = join(bench.io, 'bomb.belay');
    writeFileSync(
      bomb,
      gzipSync(forge(({ entries }) => entries.push({ name: 'artifacts/x', bytes: Buffer.alloc(30_000_000) }))),
    );
    expect(await other.thread('import', bomb, '--max-size', '20MiB')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/more than 20971520/),
    });
    expect(other.threads()).toEqual([]);
  }, 180_000);

  it('say which commit the other machine lacks', async () => {
    const empty = createBench({ x: 'x' });
    commitAll(empty);
    const end = await runCli(['thread', 'import', file], empty);
    expect(end).toMatchObject({ code: 2, stderr: expect.stringMatching(/began on commit [0-9a-f]{40}, which/) });
    expect((await runCli(['thread', 'list'], empty)).stdout).toBe('');
    empty.remove();
  }, 60_000);
});
