import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyOptions, loadPolicy, renderPolicy } from '../../src/policy/index.ts';
import { loadText, textSource, WHOLE_POLICY } from './policy-of.ts';

test.each([
  ['the built-in policy', 'version: 1\n'],
  ['the whole file', WHOLE_POLICY],
  [
    'empty lists',
    'version: 1\nverify: {checks: []}\nworkspace: {write: [], tests: [], hide: []}\nsandbox: {env: {pass: [], set: {}}}\n',
  ],
  [
    'words that YAML could read otherwise',
    'version: 1\nsandbox: {env: {set: {A: "null", B: "1", C: "true", D: "", E: "# x"}}}\n',
  ],
  ['hidden characters', 'version: 1\nplugins: ["a\\u200Bb", "a\\U000F0000", "a\\u2028b", "\\x7f", "\\t\\e"]\n'],
])('%s, rendered as text, is a file that means the same', async (_, text) => {
  const loaded = await loadText(text);
  const rendered = renderPolicy(loaded);
  expect((await loadText(rendered)).policy).toEqual(loaded.policy);
  expect(rendered.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
});

test('every value stands with its source', async () => {
  const loaded = applyOptions(
    await loadPolicy(textSource('version: 1\nlimits: {turns: 3}\n'), {
      floor: textSource('version: 1\nsandbox: {memory: 1GiB}\n', 'floor.yml'),
    }),
    { attempts: { text: '1', origin: 'environment BELAY_ATTEMPTS' } },
  );
  const lines = renderPolicy(loaded).split('\n');
  expect(lines[0]).toBe(`# p.yml  sha256 ${loaded.sha256}  floor sha256 ${loaded.floorSha256}`);
  expect(lines).toEqual(
    expect.arrayContaining([
      '  turns: 3  # p.yml:2:10',
      '  attempts: 1  # environment BELAY_ATTEMPTS',
      '  wall_time: "30m"  # default',
      '  # cost_usd: 5  # default, where the price is known',
    ]),
  );
  expect(lines.filter((line) => /memory: .*1GiB.* # floor$/.test(line))).toHaveLength(1);
  const view: unknown = JSON.parse(renderPolicy(loaded, { format: 'json' }));
  expect(view).toMatchObject({
    source: 'p.yml',
    policy: { limits: { turns: 3 } },
    origins: { 'limits.turns': 'p.yml:2:10' },
  });
});

test('any text of a command or a variable survives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.string({ unit: 'binary' }),
      async (run, value) => {
        fc.pre(run.trim() !== '' && !run.includes('\0'));
        const file = { version: 1, sandbox: { env: { set: { A: value } } }, verify: { checks: [{ name: 'a', run }] } };
        const loaded = await loadText(JSON.stringify(file));
        expect((await loadText(renderPolicy(loaded))).policy).toEqual(loaded.policy);
      },
    ),
    { numRuns: 60 },
  );
});
