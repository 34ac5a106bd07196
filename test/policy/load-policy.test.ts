import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  BUILT_IN_POLICY_TEXT,
  BUILT_IN_PROTECT,
  BUILT_IN_TESTS,
  loadPolicy,
  policySchema,
  unsupportedKeys,
} from '../../src/policy/index.ts';
import { loadText, usageErrorOf, WHOLE_POLICY } from './policy-of.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'belay-policy-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

test.each<[what: string, text: string, at: string, says: string]>([
  ['an unknown key', 'version: 1\nlimits:\n  turns: 3\n  turnz: 4\n', '4:3', 'did you mean `turns`?'],
  [
    'an unknown key in a list',
    'version: 1\nverify:\n  checks:\n    - name: a\n      run: "true"\n      tiemout: 3s\n',
    '6:7',
    '`verify.checks[0].tiemout`; did you mean `timeout`?',
  ],
  ['an unknown top key', 'version: 1\nverfiy: {}\n', '2:1', 'did you mean `verify`?'],
  ['a key that is near none', 'version: 1\nzzzzzzzzz: 1\n', '2:1', 'expected one of `version`'],
  ['a bad duration', 'version: 1\nlimits:\n  wall_time: 5 parsecs\n', '3:14', 'is "5 parsecs"; expected a duration'],
  ['a bad size', 'version: 1\nsandbox:\n  memory: lots\n', '3:11', 'is "lots"; expected a size'],
  ['a bad name', 'version: 1\nsandbox:\n  mode: workspace-wrote\n', '3:9', 'did you mean `workspace-write`?'],
  ['another type', 'version: 1\nlimits:\n  turns: "three"\n', '3:10', 'expected a whole number from 1'],
  ['a duplicate key', 'version: 1\nlimits:\n  turns: 3\n  turns: 4\n', '4:3', '`turns` is given twice'],
  ['a duplicate key in JSON', '{"version": 1,\n "version": 1}', '2:2', '`version` is given twice'],
  ['broken JSON', '{\n  "version": 1,\n  "limits": {"turns": 3,,}\n}\n', '3:25', 'expected YAML or JSON'],
  ['no version', 'limits: {turns: 3}\n', '1:1', '`version` is missing'],
  ['another version', 'version: 2\n', '1:10', 'expected `version: 1`'],
  ['an empty value', 'version: 1\nlimits:\n', '2:8', '`limits` is empty; expected a map'],
  ['a list for the file', '- version: 1\n', '1:1', 'the policy is a list'],
  ['an empty file', '', '1:1', 'the policy is empty'],
  [
    'a missing key of a check',
    'version: 1\nverify:\n  checks:\n    - name: a\n',
    '4:7',
    '`verify.checks[0].run` is missing',
  ],
  [
    'two checks of one name',
    'version: 1\nverify: {checks: [{name: a, run: x},\n {name: a, run: y}]}\n',
    '3:9',
    'earlier check',
  ],
  ['a glob that leaves', 'version: 1\nworkspace: {write: [a/../../b]}\n', '2:21', 'leaves the repository'],
  ['shell syntax in a rule', 'version: 1\ncommands: {deny: ["git push; x"]}\n', '2:19', 'expected plain words'],
  [
    'a pattern that RE2 lacks',
    'version: 1\nverify: {checks: [{name: a, run: b, expect: {matches: "(?=x)"}}]}\n',
    '2:55',
    'RE2',
  ],
  ['an unknown alias', 'version: 1\nlimits: *none\n', '2:9', ''],
  ['a second document', 'version: 1\n---\nversion: 1\n', '2:1', 'a second document'],
  [
    'two sources of the key',
    'version: 1\nmodel: {provider: openai, name: x, api_key_env: A, api_key_fd: 3}\n',
    '2:64',
    'one source of the key',
  ],
  ['soften_at above compact_at', 'version: 1\ncontext: {soften_at: 0.9}\n', '2:22', 'not to be above `compact_at`'],
  ['a prototype', 'version: 1\n__proto__: {}\n', '2:1', 'not a name'],
  ['a key that is no text', 'version: 1\n[a]: 1\n', '2:1', 'not a name'],
])('%s is an error with its place', async (_, text, at, says) => {
  const error = await usageErrorOf(() => loadText(text));
  const [line, column] = at.split(':').map(Number);
  expect(error.message).toContain(`p.yml:${at}: `);
  expect(error.message).toContain(says);
  expect([error.code, error.position]).toEqual(['policy', { file: 'p.yml', line, column }]);
});

test('broken YAML has a place inside the file', async () => {
  const error = await usageErrorOf(() => loadText('version: 1\nlimits: {turns: 3\ncommands: ]\n'));
  expect(error.message).toMatch(/^p\.yml:[234]:\d+: /);
});

test('all faults are named at once, in the order of the file, up to twenty', async () => {
  const three = await usageErrorOf(() => loadText('version: 1\nlimits: {attempts: 0, turns: -1}\nplugins: x\n'));
  expect(three.message.split('\n').map((line) => line.slice(0, 11))).toEqual([
    'p.yml:2:20:',
    'p.yml:2:30:',
    'p.yml:3:10:',
  ]);
  const keys = Array.from({ length: 30 }, (_, index) => `unknown${index}: 1\n`).join('');
  expect((await usageErrorOf(() => loadText(`version: 1\n${keys}`))).message.split('\n')).toHaveLength(21);
});

test('a value that may be a secret is not repeated', async () => {
  const value = ['value', process.pid].join('-');
  const text = `version: 1\nmodel: {provider: openai, name: x, api_key_env: ${value}}\nsandbox: {env: {pass: [${value}]}}\n`;
  const error = await usageErrorOf(() => loadText(text));
  expect(error.message).not.toContain(value);
  expect(error.message.split('\n')).toHaveLength(2);
});

test('control characters of the file do not reach the message', async () => {
  const error = await usageErrorOf(() => loadText('version: 1\nsandbox: {mode: "\\e[31m"}\n"\\e]0;x\\a": 1\n'));
  expect(error.message.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});

describe('a hostile text costs little', () => {
  test.each([
    [
      'aliases of aliases',
      `version: 1\na0: &a0 [x]\n${Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]\n`).join('')}`,
    ],
    ['an alias of itself', 'version: 1\nlimits: &a {turns: *a}\n'],
    ['deep nesting', `version: 1\nmcp: ${'['.repeat(100_000)}`],
    [
      'deep block nesting',
      `version: 1\nmcp:\n${Array.from({ length: 500 }, (_, i) => `${' '.repeat(i + 1)}a:\n`).join('')}`,
    ],
    ['many entries', `version: 1\nplugins: [${'a, '.repeat(100_000)}]\n`],
    ['many lines', `version: 1\n${'- \n'.repeat(200_000)}`],
  ])('%s', async (_, text) => {
    const error = await usageErrorOf(() => loadText(text));
    expect(error.position).toBeDefined();
    expect(error.message.length).toBeLessThan(20_000);
  });
});

describe('what cannot be read', () => {
  test.each<[string, (path: string) => void, string]>([
    ['a missing file', () => {}, 'there is no such policy file'],
    ['a folder', (path) => mkdirSync(path), 'the policy cannot be read (EISDIR)'],
    ['a file of more than 1 MiB', (path) => writeFileSync(path, '#'.repeat(1024 * 1024 + 1)), 'larger than 1 MiB'],
    [
      'bytes that are not UTF-8',
      (path) => writeFileSync(path, Buffer.from('76657273696f6e3a2031ff', 'hex')),
      ':1:11: ',
    ],
  ])('%s is named', async (name, make, says) => {
    const path = join(dir, name.replaceAll(' ', '-'));
    make(path);
    const error = await usageErrorOf(() => loadPolicy({ kind: 'file', path }));
    expect(error.message).toContain(path);
    expect(error.message).toContain(says);
    expect(error.code).toBe('policy');
  });
});

test('a file is known by its path, its digest and the place of each value', async () => {
  const path = join(dir, 'belay.yml');
  const text = 'version: 1\nlimits:\n  turns: 3\n';
  writeFileSync(path, text);
  const { origins, policy, ...loaded } = await loadPolicy({ kind: 'file', path, source: 'belay.yml' });
  const sha256 = createHash('sha256').update(text).digest('hex');
  expect(loaded).toEqual({ source: 'belay.yml', path, sha256, floorSha256: null });
  expect(policy.limits.turns).toBe(3);
  expect([origins.get('limits.turns'), origins.get('limits.attempts')]).toEqual(['belay.yml:3:3', 'default']);
});

test('the built-in policy has the documented defaults', async () => {
  const { policy, source, path, origins } = await loadPolicy({ kind: 'built-in' });
  expect({ source, path, origins: new Set(origins.values()) }).toEqual({
    source: 'built-in',
    path: null,
    origins: new Set(['default']),
  });
  expect(policy).toEqual((await loadText(BUILT_IN_POLICY_TEXT)).policy);
  expect(policy.limits).toEqual({
    turns: 40,
    attempts: 3,
    wallTimeMs: 1_800_000,
    commandTimeMs: 300_000,
    tokens: 2_000_000,
    costUsd: 5,
    costIsExplicit: false,
    toolCalls: 200,
    repeats: 3,
    outputBytes: 16_384,
    changedFiles: 50,
    changedLines: 2000,
  });
  expect(policy.workspace).toMatchObject({
    write: ['**'],
    protect: BUILT_IN_PROTECT,
    hide: ['.env', '.env.*'],
    tests: BUILT_IN_TESTS,
  });
  expect(policy.verify).toMatchObject({ checks: [], checksDeclaredEmpty: false });
});

test('the whole documented file is taken, and its keys that this version lacks are named', async () => {
  const loaded = await loadText(WHOLE_POLICY);
  expect(loaded.policy.workspace.tests).toEqual(['first/**', ...BUILT_IN_TESTS, 'last.*']);
  expect(loaded.policy.sandbox).toMatchObject({ memoryBytes: 1.5 * 2 ** 30, fileSizeBytes: 512 * 1024 });
  expect(loaded.policy.verify.holdout).toEqual([
    { from: '../hidden', to: 'test' },
    { from: 'more', to: 'more' },
  ]);
  expect(unsupportedKeys(loaded).map(({ key, position }) => `${key} ${position}`)).toEqual([
    'mcp p.yml:28:1',
    'plugins p.yml:29:1',
  ]);
});

test('JSON, CRLF, a byte order mark and anchors mean the same as plain YAML', async () => {
  const { policy } = await loadText('version: 1\nlimits: {turns: 7}\nworkspace: {hide: [a], write: [a]}\n');
  for (const text of [
    '{"version": 1, "limits": {"turns": 7}, "workspace": {"hide": ["a"], "write": ["a"]}}',
    'version: 1\r\nlimits:\r\n  turns: 7\r\nworkspace: {hide: [a], write: [a]}\r\n',
    '\uFEFFversion: 1\nlimits: {turns: 7}\nworkspace: {hide: [a], write: [a]}\n',
    'version: 1\nlimits: {turns: 7}\nworkspace: {hide: &x [a], write: *x}\n',
  ])
    expect((await loadText(text)).policy).toEqual(policy);
});

test('the JSON Schema names every section and admits no other key', () => {
  expect(policySchema()).toMatchObject({ additionalProperties: false, required: ['version'] });
  expect(Object.keys(Object(policySchema()['properties']))).toContain('verify');
});

test('a file that is something else is told in a few lines, not in one for each word of it', async () => {
  const lines = Array.from({ length: 20 }, (_, at) => `{"id": "a${at}", "goal": "x"}\n`).join('');
  expect((await usageErrorOf(() => loadText(lines))).message.split('\n')).toHaveLength(3);
});
