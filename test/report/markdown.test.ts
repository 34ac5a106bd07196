import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../src/report/index.ts';
import { sampleResult, WHOLE_RUN } from '../events/sample-events.ts';
import { ATTACKS, hostileBodies, viewOf } from './hostile-run.ts';

/** As a forge reads it: tables, autolinks, and raw HTML let through. */
const toHtml = (text: string) =>
  micromark(text, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
/** Mentions, references, links and HTML are not read inside of code. */
const outsideOfCode = (html: string) => html.replace(/<code[^>]*>[^<]*<\/code>/g, '');

describe('renderMarkdown', () => {
  it.each(ATTACKS)('keeps foreign text in code, where nothing in it is read: %j', async (attack) => {
    const html = toHtml(renderMarkdown(await viewOf(hostileBodies(attack))));
    expect(html, 'control: the text is there').toContain('EVIL');
    expect(outsideOfCode(html)).not.toContain('EVIL');
  });

  it('keeps any mixture of such texts in code', async () => {
    const piece = fc.oneof(fc.constantFrom(...ATTACKS, '`', '|', '\\', '\n', '```', '~~~', '<', '>'), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const text = `${pieces.join('')}EVIL`;
        expect(outsideOfCode(toHtml(renderMarkdown(await viewOf(hostileBodies(text)))))).not.toContain('EVIL');
      }),
      { numRuns: 60 },
    );
  });

  it.each(ATTACKS)('holds no line that a runner takes for a command: %j', async (attack) => {
    const text = renderMarkdown(await viewOf(hostileBodies(attack)));
    expect(text.split(/[\n\r\u2028\u2029\u0085]/).filter((line) => /^\s*::|##\w*\[/.test(line))).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  it('stays under its bound whatever the run holds', async () => {
    const big = 'x y `'.repeat(20_000);
    const one = sampleResult().checks;
    const check = { ...one[0], name: big, command: big, required: true, baseline: 'failed', final: 'failed' } as const;
    const checks = Array.from({ length: 3_000 }, (_, i) => ({
      ...check,
      name: `${i}`,
      command: 'c',
      classification: 'still_failing' as const,
      exit_code: 1,
      duration_ms: 1,
      output_sha256: null,
      output_tail: big.slice(0, 200),
      tests: null,
      reason: null,
    }));
    const files = Array.from({ length: 2_000 }, (_, i) => ({
      path: `${i}${'p'.repeat(150)}`,
      kind: 'add' as const,
      added: 1,
      removed: 0,
      binary: false,
    }));
    const bodies = hostileBodies('EVIL', { checks, changes: { ...sampleResult().changes, files } });
    expect(Buffer.byteLength(renderMarkdown(await viewOf(bodies)))).toBeLessThanOrEqual(60_000);
    const short = renderMarkdown(await viewOf(bodies), { maxBytes: 20_000 });
    expect(Buffer.byteLength(short)).toBeLessThanOrEqual(20_000);
    expect(short).toContain('does not fit');
  });

  it('says that a log is broken, and that a run without a verdict proves nothing', async () => {
    const text = renderMarkdown(await viewOf(WHOLE_RUN.slice(0, -1)));
    expect(text).toContain('❌ No verdict');
    expect(text).toContain('**This log is broken**');
  });
});
