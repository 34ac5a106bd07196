import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

describe('belay report', () => {
  const bench: Bench = createBench({
    'belay.yml': 'version: 1\nverify: {checks: [{name: there, run: "test -f made.txt"}]}\n',
  });
  const at = (name: string) => join(bench.io, name);
  const put = (name: string, text: string) => {
    writeFileSync(at(name), text);
    return at(name);
  };
  let thread = '';
  beforeAll(async () => {
    commitAll(bench);
    put(
      'c.jsonl',
      `${JSON.stringify({ tool_calls: [{ name: 'shell', input: { command: 'echo new-4711 > made.txt' } }] })}\n{"text": "made"}\n`,
    );
    const run = await runCli(
      ['run', 'make it', '--replay', at('c.jsonl'), '--events', at('e.jsonl'), '--patch', at('p.patch')],
      bench,
    );
    expect(run.code, run.stderr).toBe(0);
    thread = run.result?.thread_id ?? '';
  });
  afterAll(() => bench.remove());

  it.each([
    ['r.html', /^<!doctype html>/],
    ['r.md', /^## ✅ Verified/],
    ['r.xml', /^<\?xml/],
    ['r.sarif', /"version": "2.1.0"/],
    ['r.intoto.json', /in-toto.io\/Statement\/v1/],
  ])('takes the format from the name of the file: %s', async (name, expected) => {
    const end = await runCli(['report', at('e.jsonl'), '-o', at(name)], bench);
    expect([end.code, end.stdout, end.stderr]).toEqual([0, '', '']);
    expect(readFileSync(at(name), 'utf8')).toMatch(expected);
  });

  it('gives the same text for a file, stdin and the thread', async () => {
    const file = await runCli(['report', at('e.jsonl')], bench);
    const stdin = await runCli(['report', '-'], bench, { stdin: readFileSync(at('e.jsonl'), 'utf8') });
    const stored = await runCli(['report', thread], bench);
    expect(stdin.stdout).toBe(file.stdout);
    expect(stored.stdout).toBe(file.stdout);
  });

  it('shows the diff of the patch that the run wrote, and takes no other one for it', async () => {
    await runCli(['report', at('e.jsonl'), '-o', at('d.html')], bench);
    expect(readFileSync(at('d.html'), 'utf8')).toContain('<span class="a">+new-4711</span>');
    const other = await runCli(
      ['report', at('e.jsonl'), '--format', 'html', '--patch', put('other.patch', 'x\n')],
      bench,
    );
    expect([other.code, other.stderr.includes('is not the patch of this run')]).toEqual([2, true]);
    writeFileSync(at('p.patch'), 'swapped\n');
    await runCli(['report', at('e.jsonl'), '-o', at('s.html')], bench);
    expect(readFileSync(at('s.html'), 'utf8')).not.toContain('swapped');
  });

  it('shows a log that is broken, and says so; it attests none', async () => {
    const lines = readFileSync(at('e.jsonl'), 'utf8').trimEnd().split('\n');
    const cut = put('cut.jsonl', `${lines.slice(0, -1).join('\n')}\n{"half`);
    const shown = await runCli(['report', cut, '-o', at('cut.html')], bench);
    expect([shown.code, shown.stderr.includes('the log is broken')]).toEqual([0, true]);
    expect(readFileSync(at('cut.html'), 'utf8')).toContain('role="alert"');
    const attested = await runCli(['report', cut, '-o', at('cut.intoto.json')], bench);
    expect([attested.code, existsSync(at('cut.intoto.json'))]).toEqual([2, false]);
  });

  it.each([
    ['a file without an event', ['report', 'JUNK']],
    ['an empty file', ['report', 'EMPTY']],
    ['a file that is not there', ['report', 'none.jsonl']],
    ['an unknown format', ['report', 'JUNK', '--format', 'nonsense']],
    ['an output in a folder that is not there', ['report', 'EVENTS', '-o', 'no/such/folder.md']],
  ])('is bad usage with %s', async (_, args) => {
    const files: Record<string, string> = {
      JUNK: put('junk.jsonl', 'not json\n'),
      EMPTY: put('empty.jsonl', ''),
      EVENTS: at('e.jsonl'),
    };
    const end = await runCli(
      args.map((arg) => files[arg] ?? arg),
      bench,
    );
    expect([end.code, end.stdout]).toEqual([2, '']);
    expect(end.stderr).toMatch(/^belay: /);
  });
});
