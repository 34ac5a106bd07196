import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findPackage } from '../../src/model/find-package.ts';
import { contextWindowOf, createModel, editFamilyOf, loadPrices } from '../../src/model/index.ts';
import { anthropicThinking, bedrockReasoning, googleThinking } from '../../src/model/reasoning-options.ts';
import { renderCall } from '../../src/model/render-call.ts';
import { wireOfPackage } from '../../src/model/wire.ts';
import { answerOf, ask, modelPolicy, openModel, scripted, wirePolicy } from './fixtures.ts';
import { chat, startScriptedServer } from './scripted-server.ts';

const NO_KEYS = { apiKey: null, headers: {}, secrets: [] };
const USAGE = {
  input_tokens: 1_000_000,
  cached_input_tokens: 500_000,
  output_tokens: 100_000,
  reasoning_tokens: 0,
  requests: 1,
  retries: 0,
};

async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'belay-provider-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function writePackage(
  folder: string,
  name: string,
  source: string,
  exports: unknown = { '.': { require: './none.cjs', import: './index.mjs' } },
): Promise<void> {
  const root = join(folder, 'node_modules', name);
  await mkdir(root, { recursive: true });
  await writeFile(join(root, 'package.json'), JSON.stringify({ name, exports }));
  await writeFile(join(root, 'index.mjs'), source);
}

const PROVIDER = `export function createTiny({ headers }) {
  return { languageModel: (modelId) => ({ specificationVersion: 'v3', async doStream() {
    const parts = [
      { type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: modelId + headers['x-team'] },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'end' }, usage: { inputTokens: { total: 3 }, outputTokens: { total: NaN } } },
    ];
    return { stream: new ReadableStream({ start(c) { for (const part of parts) c.enqueue(part); c.close(); } }) };
  } }) };
}`;

describe('a provider package', () => {
  const load = (provider: string, folder: string, workspace: string) =>
    createModel({
      model: modelPolicy({ provider, name: 'big' }),
      keys: { ...NO_KEYS, headers: { 'x-team': '-blue' } },
      env: { BELAY_PROVIDERS: folder },
      workspace,
      needsPrice: false,
    });

  test('is loaded from the folder of BELAY_PROVIDERS', async () => {
    const folder = await tempFolder();
    await writePackage(folder, '@someone/tiny', PROVIDER);
    const model = await load('@someone/tiny', folder, await tempFolder());
    expect(answerOf(await ask(model))).toEqual({
      parts: [{ type: 'text', text: 'big-blue' }],
      finish: 'stop',
      usage: {
        input_tokens: 3,
        cached_input_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
        requests: 1,
        retries: 0,
      },
    });
  });

  test('is never loaded from the workspace, not through a link either', async () => {
    const workspace = await tempFolder();
    await writePackage(workspace, 'tiny', 'throw new Error("loaded")');
    const outside = await tempFolder();
    await mkdir(join(outside, 'node_modules'));
    await symlink(join(workspace, 'node_modules', 'tiny'), join(outside, 'node_modules', 'tiny'));
    for (const folder of [workspace, join(workspace, 'sub'), outside]) {
      await expect(load('tiny', folder, workspace)).rejects.toMatchObject({
        name: 'UsageError',
        code: 'provider',
        message: expect.stringContaining('npm install --global tiny'),
      });
    }
  });

  test('that belay cannot tell an effort is refused with one', async () => {
    const folder = await tempFolder();
    await writePackage(folder, 'tiny', PROVIDER);
    const model = modelPolicy({ provider: 'tiny', name: 'big', reasoningEffort: 'high' });
    const options = { model, keys: NO_KEYS, env: { BELAY_PROVIDERS: folder }, needsPrice: false };
    await expect(createModel({ ...options, workspace: await tempFolder() })).rejects.toMatchObject({
      name: 'UsageError',
      code: 'provider',
      message: expect.stringContaining('model.reasoning_effort'),
    });
  });

  test.each([
    ['../evil', 'neither a provider of belay nor a package name'],
    ['no-such-provider-package', 'is not installed beside belay'],
    ['not-a-provider', 'exports no create… function'],
    ['other-version', 'is not for AI SDK specification v3'],
  ])('%s is refused', async (name, message) => {
    const folder = await tempFolder();
    await writePackage(folder, 'not-a-provider', 'export const x = 1;');
    await writePackage(
      folder,
      'other-version',
      'export const createOtherVersion = () => ({ languageModel: () => ({ specificationVersion: "v1", doStream() {} }) });',
    );
    await expect(load(name, folder, await tempFolder())).rejects.toMatchObject({
      name: 'UsageError',
      code: 'provider',
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{ '.': { types: './a.d.ts', import: { types: './a.d.ts', default: './a.mjs' } } }, 'a.mjs'],
    [{ import: './b.mjs', require: './b.cjs' }, 'b.mjs'],
    ['./c.mjs', 'c.mjs'],
    [{ '.': [{ browser: './x.js' }, './d.mjs'] }, 'd.mjs'],
    [null, 'index.js'],
  ])('with exports %j is entered at %s', async (exports, file) => {
    const folder = await tempFolder();
    await writePackage(folder, 'p', '', exports);
    await writeFile(join(folder, 'node_modules', 'p', file), '');
    expect(await findPackage('p', { from: [join(folder, 'deep', 'er')], workspace: await tempFolder() })).toBe(
      join(folder, 'node_modules', 'p', file),
    );
  });
});

test('headers of the policy and a base URL go with every provider', async () => {
  const { server } = await scripted('anthropic', [{ status: 500, body: '{}' }]);
  const model = await openModel(wirePolicy('anthropic', server.url, { headersEnv: { 'x-team': 'TEAM' } }), {
    TEAM: 'blue',
  });
  await ask(model);
  expect(server.requests[0]).toMatchObject({ path: '/v1/messages', headers: { 'x-team': 'blue' } });
});

test('openai-compatible without a base URL is a usage error', async () => {
  await expect(openModel(modelPolicy())).rejects.toMatchObject({ name: 'UsageError', code: 'provider' });
});

describe('prices', () => {
  test('are known with the first answer', async () => {
    const server = await startScriptedServer([chat([{ content: 'a' }])]);
    onTestFinished(() => server.close());
    const model = await openModel(wirePolicy('chat', server.url, { name: 'gpt-4o' }));
    expect(model.costOf(USAGE)).toBeNull();
    await ask(model);
    expect(model.costOf(USAGE)).toBeCloseTo(0.5 * 2.5 + 0.5 * 1.25 + 0.1 * 10, 9);
  });

  test.each([
    ['openai', 'gpt-4o', null, 2.875],
    ['anthropic', 'claude-sonnet-4-5', null, 5.55],
    ['openai', 'no-such-model', null, null],
    ['openai-compatible', 'gpt-4o', 'http://127.0.0.1:1/v1', null],
    ['openai-compatible', 'mistral-large-latest', 'https://api.mistral.ai/v1', 2.6],
    ['@ai-sdk/groq', 'llama-3.3-70b-versatile', null, 0.669],
    ['@someone/unknown', 'gpt-4o', null, null],
    ['replay', 'gpt-4o', null, null],
  ])('%s/%s at %s: %s', async (provider, name, baseUrl, expected) => {
    const costOf = await loadPrices(modelPolicy({ provider, name, baseUrl }));
    const cost = costOf(USAGE);
    expect(cost === null ? null : Number(cost.toFixed(3))).toBe(expected === null ? null : Number(expected.toFixed(3)));
  });

  test('that a cost limit needs and nobody knows are a usage error', async () => {
    const model = modelPolicy({ baseUrl: 'http://127.0.0.1:1/v1' });
    const options = { keys: NO_KEYS, env: {}, workspace: process.cwd(), needsPrice: true };
    await expect(createModel({ ...options, model })).rejects.toMatchObject({
      name: 'UsageError',
      code: 'unknown_price',
    });
    const priced = await createModel({
      ...options,
      model: { ...model, price: { input: 1, cachedInput: null, output: 2 } },
    });
    expect(priced.costOf(USAGE)).toBeCloseTo(1.2, 9);
  });
});

test.each([
  ['gpt-5.6', 1_050_000],
  ['gpt-5', 400_000],
  ['gpt-4o-mini', 128_000],
  ['openai/gpt-5.1-codex', 400_000],
  ['claude-sonnet-4-5-20250929', 200_000],
  ['claude-opus-4-8', 1_000_000],
  ['gemini-2.5-pro', 1_048_576],
  ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
  ['openai.gpt-oss-120b-1:0', 131_072],
  ['some-model', null],
])('the window of %s is %s', (name, tokens) => {
  expect(contextWindowOf(name)).toBe(tokens);
});

test.each([
  ['openai', 'gpt-5.6', 'apply_patch'],
  ['openai', 'gpt-4.1-mini', 'apply_patch'],
  ['openai', 'o4-mini', 'apply_patch'],
  ['openai', 'codex-mini-latest', 'apply_patch'],
  ['openai', 'gpt-4o', 'replace_text'],
  ['openai', 'o1', 'replace_text'],
  ['openai-compatible', 'openai/gpt-oss-120b', 'apply_patch'],
  ['openai-compatible', 'qwen3-coder', 'replace_text'],
  ['openai-compatible', 'pro3-model', 'replace_text'],
  ['@ai-sdk/azure', 'gpt-5', 'apply_patch'],
  ['anthropic', 'claude-sonnet-4-5', 'replace_text'],
  ['google', 'gemini-2.5-pro', 'replace_text'],
])('%s/%s edits by %s', (provider, name, family) => {
  expect(editFamilyOf(provider, name)).toBe(family);
});

test.each([
  ['claude-3-7-sonnet-20250219', 'enabled'],
  ['claude-sonnet-4-20250514', 'enabled'],
  ['claude-opus-4-1', 'enabled'],
  ['claude-sonnet-4-5-20250929', 'enabled'],
  ['claude-haiku-4-5', 'enabled'],
  ['some-other-model', 'enabled'],
  ['claude-opus-4-6', 'adaptive'],
  ['claude-sonnet-5', 'adaptive'],
  ['claude-opus-5-5', 'adaptive'],
])('%s thinks %s', (name, type) => {
  expect(anthropicThinking(name, 'high')).toMatchObject({ thinking: { type } });
});

test('effort is given in the terms of the model', () => {
  expect(anthropicThinking('claude-opus-4-6', 'minimal')).toEqual({ thinking: { type: 'adaptive' }, effort: 'low' });
  expect(anthropicThinking('claude-opus-4-5', 'none')).toEqual({ thinking: { type: 'disabled' } });
  expect(googleThinking('gemini-2.5-pro', 'none')).toEqual({ thinkingBudget: 128, includeThoughts: true });
  expect(googleThinking('gemini-3-pro-preview', 'xhigh')).toEqual({ thinkingLevel: 'high', includeThoughts: true });
  expect(googleThinking('gemini-3-flash', 'none')).toEqual({ thinkingLevel: 'minimal', includeThoughts: true });
});

test.each([
  ['us.anthropic.claude-opus-4-6-v1', 'high', { type: 'adaptive', maxReasoningEffort: 'high' }],
  ['anthropic.claude-sonnet-4-20250514-v1:0', 'medium', { type: 'enabled', budgetTokens: 10_000 }],
  ['openai.gpt-oss-120b-1:0', 'minimal', { type: 'enabled', maxReasoningEffort: 'low' }],
  ['amazon.nova-2-lite-v1:0', 'none', { type: 'disabled' }],
])('on Bedrock %s is told %s as %j', (name, effort, expected) => {
  expect(bedrockReasoning(name, effort)).toEqual(expected);
});

test.each([
  ['none', 'bedrock-claude', undefined],
  ['low', 'bedrock-claude', 7424],
  ['none', 'anthropic', 20_000],
] as const)(
  'with the effort %s a Claude with a budget on the wire %s leaves the answer %s tokens',
  (effort, wire, most) => {
    const name = 'claude-sonnet-4-5-20250929';
    const settings = { wire, name, reasoningEffort: effort, contextWindow: 200_000, isWindowAssumed: false };
    const request = { system: '', messages: [], tools: [], cacheKey: '' };
    expect(renderCall(request, settings).maxOutputTokens).toBe(most);
  },
);

test.each([
  ['@ai-sdk/azure', 'gpt-5.6', 'azure'],
  ['@ai-sdk/google-vertex', 'gemini-2.5-pro', 'google'],
  ['@ai-sdk/amazon-bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock-claude'],
  ['@ai-sdk/amazon-bedrock', 'anthropic.claude-3-haiku-20240307-v1:0', 'bedrock'],
  ['@ai-sdk/amazon-bedrock', 'amazon.nova-2-lite-v1:0', 'bedrock'],
  ['@someone/else', 'claude-sonnet-4-5', 'other'],
])('%s with %s is spoken to as %s', (provider, name, wire) => {
  expect(wireOfPackage(provider, name)).toBe(wire);
});
