import { expect, test } from 'vitest';
import { applyOptions, type PolicyOptions, parseModelName } from '../../src/policy/index.ts';
import { loadText, usageErrorOf } from './policy-of.ts';

const loaded = await loadText(
  'version: 1\nmodel: {provider: openai, name: own, api_key_env: KEY, base_url: "http://127.0.0.1:1", price: {input: 1, output: 2}, context_window: 9999, retries: 1}\nlimits: {turns: 9}\n',
);
const option = (name: string, text: string) => ({ text, origin: `option --${name}` });

test('options tighten the limits and become their origin', () => {
  const applied = applyOptions(loaded, {
    turns: option('turns', '5'),
    attempts: option('attempts', '3'),
    wallTime: option('wall-time', '90s'),
    tokens: { text: '1000', origin: 'environment BELAY_TOKENS' },
    costUsd: option('cost-usd', '0.25'),
  });
  expect(applied.policy).toEqual({
    ...loaded.policy,
    limits: {
      ...loaded.policy.limits,
      turns: 5,
      attempts: 3,
      wallTimeMs: 90_000,
      tokens: 1000,
      costUsd: 0.25,
      costIsExplicit: true,
    },
  });
  const changed = [...applied.origins].filter(([key, origin]) => loaded.origins.get(key) !== origin);
  expect(Object.fromEntries(changed)).toEqual({
    'limits.turns': 'option --turns',
    'limits.attempts': 'option --attempts',
    'limits.wall_time': 'option --wall-time',
    'limits.tokens': 'environment BELAY_TOKENS',
    'limits.cost_usd': 'option --cost-usd',
  });
  expect(loaded.policy.limits.turns).toBe(9);
});

test('no options leave the policy as it is', () => {
  expect(applyOptions(loaded, {})).toEqual(loaded);
});

test('a looser limit is an error that names both places', async () => {
  const stated = await usageErrorOf(() => applyOptions(loaded, { turns: option('turns', '10') }));
  expect(stated.message).toBe(
    'option --turns: 10 is looser than `limits.turns: 9` (p.yml:3:10); options can only tighten the policy, so raise the limit there',
  );
  const byDefault = await usageErrorOf(() => applyOptions(loaded, { wallTime: option('wall-time', '1h') }));
  expect(byDefault.message).toContain('1h is looser than `limits.wall_time: 30m` (default)');
});

test.each<[keyof PolicyOptions, string]>([
  ['turns', 'many'],
  ['turns', ''],
  ['turns', '0'],
  ['turns', '-1'],
  ['turns', '1.5'],
  ['turns', '0x3'],
  ['turns', '1e1'],
  ['turns', ' 3'],
  ['wallTime', '90'],
  ['wallTime', '0s'],
  ['costUsd', '0'],
  ['costUsd', 'NaN'],
  ['costUsd', 'Infinity'],
  ['model', 'gpt'],
  ['model', 'nobody/x'],
  ['model', 'openai/'],
  ['model', 'openai-compatible/x'],
])('the option %s does not take %j', async (name, text) => {
  const error = await usageErrorOf(() => applyOptions(loaded, { [name]: option(name, text) }));
  expect(error.message).toMatch(new RegExp(`^option --${name}: `));
});

test("a model of the same provider keeps address and key, not the other model's price", () => {
  const { policy, origins } = applyOptions(loaded, { model: option('model', 'openai/a/b') });
  expect(policy.model).toEqual({ ...loaded.policy.model, name: 'a/b', price: null, contextWindow: null });
  expect([origins.get('model.name'), origins.get('model.price'), origins.get('model.base_url')]).toEqual([
    'option --model',
    'default',
    'p.yml:2:56',
  ]);
  expect(applyOptions(loaded, { model: option('model', 'openai/own') }).policy).toEqual(loaded.policy);
});

test('a model of another provider takes neither key nor address along', () => {
  const { policy, origins } = applyOptions(loaded, { model: option('model', '@ai-sdk/azure/x') });
  expect(policy.model).toMatchObject({
    provider: '@ai-sdk/azure',
    name: 'x',
    apiKeyEnv: null,
    baseUrl: null,
    price: null,
  });
  expect(origins.get('model.api_key_env')).toBe('default');
});

test.each([
  ['openai/gpt-5.6', { provider: 'openai', name: 'gpt-5.6' }],
  ['openai-compatible/org/name:tag', { provider: 'openai-compatible', name: 'org/name:tag' }],
  ['@ai-sdk/azure/x', { provider: '@ai-sdk/azure', name: 'x' }],
  ['@ai-sdk/azure', null],
  ['/x', null],
  ['openai/a\nb', null],
  [`openai/${'x'.repeat(201)}`, null],
])('the model name %j is %j', (text, name) => {
  expect(parseModelName(text)).toEqual(name);
});
