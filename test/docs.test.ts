import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { compareOptionDocuments } from '../scripts/option-reference.ts';
import { comparePolicyDocument } from '../scripts/policy-reference.ts';
import { Event, exitCodeOf, Item, Outcome, Result } from '../src/events/index.ts';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
/** The words in back-ticks of a text. */
const named = (text: string) => new Set([...text.matchAll(/`([^`\s]+)`/g)].map((match) => match[1]));
/** Tables without the blanks and dashes that a formatter aligns them with. */
const unpad = (text: string) =>
  text
    .replace(/ +\| */g, ' | ')
    .replace(/-{3,}/g, '---')
    .replace(/\| ?(?=---)|(?<=---) ?\|/g, '|')
    .trimEnd();

describe('docs', () => {
  it('has the key tables of the policy as the schema gives them', async () => {
    const { actual, expected } = await comparePolicyDocument();
    expect(unpad(actual), 'npx tsx scripts/policy-reference.ts').toBe(unpad(expected));
  });

  it('has options and inputs as the one table gives them, in action.yml and in the documents', async () => {
    const parts = await compareOptionDocuments();
    expect(parts.length).toBeGreaterThan(0);
    for (const { file, marker, actual, expected } of parts)
      expect(actual, `${file} <${marker}>: npx tsx scripts/option-reference.ts`).toBe(expected);
  });

  it('names every event, item and field of the result', async () => {
    const names = named(await read('docs/events.md'));
    const expected = [
      ...Event.options.map((event) => event.shape.type.value),
      ...Item.options.map((item) => item.shape.type.value),
      ...Object.keys(Result.shape),
    ];
    expect(expected.filter((name) => !names.has(name) && !names.has(`${name}[]`))).toEqual([]);
  });

  it.each(['docs/exit-codes.md', 'README.md'])('lists every outcome with its exit code in %s', async (path) => {
    const rows = (await read(path)).split('\n').filter((line) => line.startsWith('|'));
    const missing = Outcome.options.filter((outcome) => {
      const code = exitCodeOf(outcome, { checksDeclaredEmpty: false });
      return !rows.some(
        (row) => row.includes(`\`${outcome}\``) && new RegExp(`\\b${code}\\b`).test(row.split('|')[1] ?? ''),
      );
    });
    expect(missing).toEqual([]);
  });
});
