import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { decide } from '../../src/policy/decide.ts';
import { createMatcher, type Decision, globFault, loadPolicy, type Policy } from '../../src/policy/index.ts';
import { loadText, textSource, WHOLE_POLICY } from './policy-of.ts';

const snippet = fc.oneof(
  fc.constantFrom(
    ...[
      'version: 1',
      'limits',
      'turns',
      'verify:',
      '  checks:',
      '- ',
      ': ',
      '\n',
      '\n  ',
      '\t',
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      "'",
    ],
    ...[
      '&a ',
      '*a',
      '!!binary ',
      '!x ',
      '<<: ',
      '? ',
      '|\n',
      '>-\n',
      '#',
      '---\n',
      '...\n',
      '%YAML 1.1\n',
      '\\',
      '\u0000',
      '\uFEFF',
    ],
    ...[
      'null',
      '~',
      '0x1',
      '.nan',
      '1e999',
      '-1',
      'true',
      '__proto__: ',
      'constructor: ',
      '\r',
      '\r\n',
      '\u2028',
      '😀',
      '\uD800',
    ],
  ),
  fc.string({ maxLength: 6 }),
);

/** The whole file with pieces taken out and put in: mostly almost right. */
const almostPolicy = fc
  .array(fc.tuple(fc.nat(WHOLE_POLICY.length), fc.nat(12), snippet), { minLength: 1, maxLength: 4 })
  .map((edits) =>
    edits.reduce((text, [at, cut, put]) => `${text.slice(0, at)}${put}${text.slice(at + cut)}`, WHOLE_POLICY),
  );
const anyText = fc.array(snippet, { maxLength: 30 }).map((parts) => parts.join(''));
const anyBytes = fc.uint8Array({ maxLength: 80 });
const shortPolicy = anyText.map((text) => `version: 1\n${text}`);

test('any text is a policy, or a UsageError with a position inside the text', { timeout: 120_000 }, async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(almostPolicy, { weight: 4, arbitrary: shortPolicy }, anyText, anyBytes),
      async (content) => {
        const bytes = Buffer.from(content);
        try {
          const { policy } = await loadPolicy({ kind: 'text', bytes, source: 'p.yml' });
          expect(policy.version).toBe(1);
          taken++;
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          const { line = 0, column = 0 } = error.position ?? {};
          const lines = bytes.toString('utf8').split('\n');
          expect([
            line >= 1 && line <= lines.length,
            column >= 1 && column <= (lines[line - 1] ?? '').length + 1,
          ]).toEqual([true, true]);
          expect(error.message.startsWith(`p.yml:${line}:${column}: `)).toBe(true);
        }
      },
    ),
    // The parser told of no line's end behind such an error.
    { numRuns: 10_000, examples: [['version: 1\n}>-\n ---\n---\n']] },
  );
  expect(taken).toBeGreaterThan(5);
});

const segment = fc.constantFrom(
  'a',
  'b',
  '.x',
  'a.ts',
  'test',
  '*',
  '**',
  '?',
  '*.ts',
  '[ab]',
  '[!a]',
  '{a,b}',
  '\\*',
  '[',
  '{',
  'é',
);
const glob = fc
  .oneof(
    {
      weight: 3,
      arbitrary: fc.tuple(fc.constantFrom('', '/', '!'), fc.array(segment, { minLength: 1, maxLength: 4 })),
    },
    fc.tuple(fc.constant(''), fc.array(fc.string({ maxLength: 12 }), { maxLength: 3 })),
  )
  .map(([start, parts]) => `${start}${parts.join('/')}`);
const path = fc
  .array(fc.constantFrom('a', 'b', '.x', 'a.ts', 'test', 'é', '*', '['), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'));

test('globs never throw, name the entry that decided, take in what is below, and are undone by their `!`', () => {
  fc.assert(
    fc.property(fc.array(glob, { maxLength: 4 }), path, path, (globs, at, below) => {
      for (const one of globs) globFault(one);
      const match = createMatcher(globs);
      const entry = match(at);
      expect(entry === null || (globs.includes(entry) && !entry.startsWith('!'))).toBe(true);
      const positive = createMatcher(globs.filter((one) => !one.startsWith('!')));
      if (positive(at) !== null) expect(positive(`${at}/${below}`)).not.toBeNull();
      expect(createMatcher([...globs, '!**'])(at)).toBeNull();
      if (entry !== null) expect(createMatcher([...globs, `!${entry}`])(at)).toBeNull();
      expect(createMatcher([...globs, '**'])(at)).toBe('**');
    }),
    { numRuns: 7500 },
  );
});

const { policy } = await loadText('version: 1\n');
const word = fc.constantFrom(
  ...[
    'git',
    'push',
    'npm',
    'publish',
    'x',
    '-f',
    '--force',
    '-C',
    '--',
    '$x',
    '"$x"',
    '$(git push)',
    "'a b'",
    '*',
    '{}',
  ],
  ...[
    'env',
    'sudo',
    'xargs',
    'sh',
    '-c',
    'timeout',
    '5',
    'find',
    '-exec',
    '\\;',
    'A=1',
    'eval',
    '"git push"',
    '/usr/bin/git',
  ],
);
const glue = fc.constantFrom(
  ' ',
  ' ',
  ' ',
  ' ',
  ' && ',
  ' | ',
  '; ',
  '\n',
  ' & ',
  ' > ',
  ' < ',
  ' <<E\n',
  '(',
  ')',
  '`',
  '"',
  "'",
  ' { ',
  ' }',
);
const script = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.tuple(word, glue), { maxLength: 10 }).map((parts) => parts.flat().join('')) },
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const rule = fc.constantFrom(
  'git push',
  'git',
  'npm publish',
  'x',
  'git push --force',
  'rm -rf',
  '* push',
  'git p*',
  'sh',
);
const decision = fc.constantFrom<Decision>('allow', 'ask', 'deny');
const rules = fc.record({
  default: decision,
  deny: fc.array(rule, { maxLength: 2 }),
  ask: fc.array(rule, { maxLength: 2 }),
  allow: fc.array(rule, { maxLength: 2 }),
});
const strictness = (text: string, commands: Policy['commands']) =>
  ['allow', 'ask', 'deny'].indexOf(decide({ kind: 'command', command: text }, { ...policy, commands }).decision);

test('decide never throws, and neither a further rule of deny or ask nor a stricter default loosens', () => {
  fc.assert(
    fc.property(script, rules, rule, (text, commands, further) => {
      const before = strictness(text, commands);
      expect(before).toBeGreaterThanOrEqual(0);
      expect(strictness(text, { ...commands, deny: [...commands.deny, further] })).toBeGreaterThanOrEqual(before);
      // Under a default of `deny` a rule of `ask` is what lets a person decide.
      if (commands.default !== 'deny')
        expect(strictness(text, { ...commands, ask: [...commands.ask, further] })).toBeGreaterThanOrEqual(before);
      expect(strictness(text, { ...commands, allow: [...commands.allow, further] })).toBeLessThanOrEqual(before);
      expect(strictness(text, { ...commands, default: 'deny' })).toBeGreaterThanOrEqual(before);
    }),
    { numRuns: 1300 },
  );
});

const wrapper = fc.constantFrom<(inner: string) => string>(
  (inner) => `env A=1 ${inner}`,
  (inner) => `sudo -u root ${inner}`,
  (inner) => `timeout -k 1 5 ${inner}`,
  (inner) => `nice -n 5 ${inner}`,
  (inner) => `xargs -n 1 ${inner}`,
  (inner) => `find . -exec ${inner} ';'`,
  (inner) => `sh -c '${inner.replaceAll("'", "'\\''")}'`,
  (inner) => `sh <<'END${inner.length}'\n${inner}\nEND${inner.length}\n`,
);
const outer = fc.constantFrom<(inner: string) => string>(
  (inner) => `x=$(${inner})`,
  (inner) => `true && (${inner})`,
  (inner) => `if true; then\n${inner}\nfi`,
);

test('a denied command stays denied in any wrapping', async () => {
  const { policy: denies } = await loadPolicy(textSource('version: 1\ncommands: {deny: [git push]}\n'));
  fc.assert(
    fc.property(fc.array(wrapper, { maxLength: 4 }), outer, (wrappers, around) => {
      const text = around(wrappers.reduce((inner, wrap) => wrap(inner), 'git push origin'));
      expect(decide({ kind: 'command', command: text }, denies).decision).toBe('deny');
    }),
    { numRuns: 500 },
  );
});
