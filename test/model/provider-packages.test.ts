import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Bench, type CliEnd, commitAll, createBench, runCli } from '../scenario.ts';
import { type ScriptedServer, type Step, sse, startScriptedServer } from './scripted-server.ts';

/** The packages come from the registry: a machine without one says so, everybody else gets a failure. */
const { BELAY_OFFLINE } = process.env;
const KEY = ['key', 'of+a/cloud', 'd4e5f6'].join('-');
const SPELLINGS = [KEY, Buffer.from(KEY).toString('base64'), encodeURIComponent(KEY)];
const COMMAND = 'echo done > a.txt';
const SHELL = JSON.stringify({ command: COMMAND });
const FINISH = JSON.stringify({ status: 'done', summary: `It is done, with ${SPELLINGS.join(' ')}.` });
const CALLS = [
  ['shell', SHELL],
  ['finish', FINISH],
] as const;

/** OpenAI Responses, as Azure streams them: reasoning, then a call. */
const responses = CALLS.map(([name, args], i): Step => {
  const base = { id: `resp_${i}`, object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
  const reasoning = { id: `rs_${i}`, type: 'reasoning', summary: [], encrypted_content: `opaque_${i}` };
  const call = {
    id: `fc_${i}`,
    type: 'function_call',
    call_id: `call_${i}`,
    name,
    arguments: args,
    status: 'completed',
  };
  const items = [reasoning, call].flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, encrypted_content: null } },
    { type: 'response.output_item.done', output_index, item },
  ]);
  const usage = { input_tokens: 10, output_tokens: 5, output_tokens_details: { reasoning_tokens: 3 } };
  return sse({ type: 'response.created', response: base }, ...items, {
    type: 'response.completed',
    response: { ...base, status: 'completed', usage },
  });
});

/** Gemini, as Vertex streams it: a thought, then a signed call. */
const gemini = CALLS.map(([name, args], i): Step => {
  const parts = [
    { text: 'Let me see.', thought: true },
    { functionCall: { name, args: JSON.parse(args) }, thoughtSignature: `sig_${i}` },
  ];
  return sse({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 3, totalTokenCount: 18 },
  });
});

/** One message of AWS's event stream: lengths, headers, payload, each part with its CRC. */
function frame(type: string, payload: object): Buffer {
  const headers = Buffer.concat(
    Object.entries({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }).map(
      ([name, value]) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(value.length);
        return Buffer.concat([
          Buffer.from([name.length]),
          Buffer.from(name),
          Buffer.from([7]),
          length,
          Buffer.from(value),
        ]);
      },
    ),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const word = (number: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(number);
    return bytes;
  };
  const prelude = Buffer.concat([word(16 + headers.length + body.length), word(headers.length)]);
  const message = Buffer.concat([prelude, word(crc32(prelude)), headers, body]);
  return Buffer.concat([message, word(crc32(message))]);
}

/** Converse, as Bedrock streams it: signed reasoning, then a call. */
const converse = CALLS.map(([name, args], i): Step => {
  const delta = (contentBlockIndex: number, one: object) =>
    frame('contentBlockDelta', { contentBlockIndex, delta: one });
  const stream = Buffer.concat([
    frame('messageStart', { role: 'assistant' }),
    delta(0, { reasoningContent: { text: 'Let me see.' } }),
    delta(0, { reasoningContent: { signature: `sig_${i}` } }),
    frame('contentBlockStop', { contentBlockIndex: 0 }),
    frame('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: `tool_${i}`, name } } }),
    delta(1, { toolUse: { input: args } }),
    frame('contentBlockStop', { contentBlockIndex: 1 }),
    frame('messageStop', { stopReason: 'tool_use' }),
    frame('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 }, metrics: { latencyMs: 1 } }),
  ]);
  return (response) => response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' }).end(stream);
});

interface Told {
  end: CliEnd;
  bench: Bench;
  server: ScriptedServer;
}

let providers = '';

/** A whole run of the built CLI with a provider package, until its finish. */
async function runWith(model: object, steps: readonly Step[], env: NodeJS.ProcessEnv, path = ''): Promise<Told> {
  const server = await startScriptedServer(steps);
  onTestFinished(() => server.close());
  const bench = createBench({ 'a.txt': 'a\n' });
  onTestFinished(() => bench.remove());
  const policy = {
    version: 1,
    model: { ...model, base_url: `${server.url}${path}`, retries: 0 },
    verify: { checks: [{ name: 'done', run: 'grep -q done a.txt', before: 'fail' }] },
  };
  bench.write('belay.yml', JSON.stringify(policy));
  commitAll(bench);
  const args = ['run', 'do it', '--events', join(bench.io, 'events.jsonl'), '--record', join(bench.io, 'record.jsonl')];
  const end = await runCli(args, bench, { env: { BELAY_PROVIDERS: providers, ...env } });
  return { end, bench, server };
}

/** Where the key is in any spelling, of all that the run left and said. */
function findings({ end, bench }: Told): string[] {
  const tells = (text: string) => SPELLINGS.some((spelling) => text.includes(spelling));
  const files = readdirSync(bench.root, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const kept = files.filter((file) => tells(readFileSync(file, 'latin1')));
  return [...kept, ...(['stdout', 'stderr'] as const).filter((name) => tells(end[name]))];
}

describe.skipIf(BELAY_OFFLINE === '1')('a provider package from the registry', () => {
  beforeAll(async () => {
    providers = realpathSync(mkdtempSync(join(tmpdir(), 'belay-providers-')));
    cpSync(join(import.meta.dirname, 'provider-packages'), providers, { recursive: true });
    await execa('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: providers });
  });
  afterAll(() => rmSync(providers, { recursive: true, force: true }));

  test('@ai-sdk/azure works a whole run, with reasoning kept and the key known', async () => {
    const model = { provider: '@ai-sdk/azure', name: 'gpt-5.6', reasoning_effort: 'high' };
    const told = await runWith(model, responses, { AZURE_API_KEY: KEY }, '/openai/v1');
    expect({ code: told.end.code, reason: told.end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    const [first, second] = told.server.requests;
    expect(first).toMatchObject({ path: '/openai/v1/responses', headers: { 'api-key': KEY } });
    expect(first?.body).toMatchObject({
      model: 'gpt-5.6',
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high' },
    });
    expect(first?.body['tools']).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'shell', strict: false })]),
    );
    expect(second?.body['input']).toMatchObject([
      { role: 'developer' },
      { role: 'user' },
      { type: 'reasoning', id: 'rs_0', encrypted_content: 'opaque_0' },
      { type: 'function_call', call_id: 'call_0', arguments: SHELL },
      { type: 'function_call_output', call_id: 'call_0' },
    ]);
    expect(findings(told)).toEqual([]);
  });

  test('@ai-sdk/amazon-bedrock works a whole run with the credentials of the environment, which are known secrets', async () => {
    const name = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
    const model = { provider: '@ai-sdk/amazon-bedrock', name, reasoning_effort: 'low' };
    const env = { AWS_ACCESS_KEY_ID: 'id-of-nobody', AWS_SECRET_ACCESS_KEY: KEY, AWS_REGION: 'eu-west-1' };
    const told = await runWith(model, converse, env);
    expect({ code: told.end.code, reason: told.end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    const [first, second] = told.server.requests;
    expect(first).toMatchObject({
      path: `/model/${encodeURIComponent(name)}/converse-stream`,
      headers: { authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=id-of-nobody\//) },
      body: {
        system: [{ text: expect.any(String) }, { cachePoint: { type: 'default' } }],
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 4096 } },
        inferenceConfig: { maxTokens: 4096 + 7424 },
      },
    });
    expect(second?.body['messages']).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Let me see.', signature: 'sig_0' } } },
          { toolUse: { toolUseId: 'tool_0', name: 'shell', input: { command: COMMAND } } },
        ],
      },
      { role: 'user', content: [{ toolResult: { toolUseId: 'tool_0' } }, { cachePoint: { type: 'default' } }] },
    ]);
    expect(findings(told)).toEqual([]);
  });

  test('@ai-sdk/google-vertex works a whole run with a key from a file', async () => {
    const keyFile = join(providers, 'key');
    writeFileSync(keyFile, `${KEY}\n`);
    const name = { provider: '@ai-sdk/google-vertex', name: 'gemini-2.5-pro' };
    const model = { ...name, api_key_file: keyFile, reasoning_effort: 'low' };
    const told = await runWith(model, gemini, {}, '/v1/publishers/google');
    expect({ code: told.end.code, reason: told.end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    const [first, second] = told.server.requests;
    expect(first).toMatchObject({
      path: '/v1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': KEY },
      body: { generationConfig: { thinkingConfig: { thinkingBudget: 4096 } } },
    });
    expect(second?.body['contents']).toMatchObject([
      { role: 'user' },
      {
        role: 'model',
        parts: [
          { text: 'Let me see.', thought: true },
          { functionCall: { name: 'shell', args: { command: COMMAND } }, thoughtSignature: 'sig_0' },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'shell' } }] },
    ]);
    expect(findings(told)).toEqual([]);
  });
});
