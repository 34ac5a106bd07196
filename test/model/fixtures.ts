import { onTestFinished } from 'vitest';
import {
  createModel,
  loadModelKeys,
  type Message,
  type Model,
  type ModelOutcome,
  type ModelRequest,
  type RetryNotice,
  type ToolSpec,
} from '../../src/model/index.ts';
import type { ModelPolicy } from '../../src/policy/index.ts';
import { type ScriptedServer, type Step, startScriptedServer } from './scripted-server.ts';

export const SHELL: ToolSpec = {
  name: 'shell',
  description: 'Runs a command.',
  inputSchema: {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
    additionalProperties: false,
  },
};

export function modelPolicy(given: Partial<ModelPolicy> = {}): ModelPolicy {
  return {
    provider: 'openai-compatible',
    name: 'some-model',
    apiKeyEnv: null,
    apiKeyFile: null,
    apiKeyFd: null,
    apiKeyCommand: null,
    baseUrl: null,
    price: null,
    headersEnv: {},
    api: 'responses',
    reasoningEffort: null,
    contextWindow: null,
    requestTimeoutMs: 20_000,
    retries: 0,
    ...given,
  };
}

/** The providers under test, by the wire they speak. */
export const WIRES = {
  responses: { provider: 'openai', name: 'gpt-5.6', path: '/v1' },
  chat: { provider: 'openai', name: 'gpt-5.6', api: 'chat', path: '/v1' },
  compatible: { provider: 'openai-compatible', name: 'some-model', path: '/v1' },
  anthropic: { provider: 'anthropic', name: 'claude-sonnet-4-5', path: '/v1' },
  google: { provider: 'google', name: 'gemini-2.5-pro', path: '/v1beta' },
} as const;
export type WireName = keyof typeof WIRES;

export function wirePolicy(wire: WireName, url: string, given: Partial<ModelPolicy> = {}): ModelPolicy {
  const { path, ...named } = WIRES[wire];
  return modelPolicy({ ...named, baseUrl: `${url}${path}`, ...given });
}

export async function openModel(policy: ModelPolicy, env: Record<string, string> = {}): Promise<Model> {
  const keys = await loadModelKeys(policy, { env, folder: '/' });
  return createModel({ model: policy, keys, env, workspace: process.cwd(), needsPrice: false });
}

export interface Scripted {
  model: Model;
  server: ScriptedServer;
}

/** A model of the wire over a server with these steps; closed with the test. */
export async function scripted(
  wire: WireName,
  steps: readonly Step[],
  given: Partial<ModelPolicy> = {},
): Promise<Scripted> {
  const server = await startScriptedServer(steps);
  onTestFinished(() => server.close());
  return { server, model: await openModel(wirePolicy(wire, server.url, given)) };
}

export function requestOf(
  messages: readonly Message[] = [{ role: 'user', text: 'go' }],
  given: Partial<ModelRequest> = {},
): ModelRequest {
  return { system: 'Be good.', tools: [SHELL], messages, cacheKey: 'thread_1', ...given };
}

export interface Asked {
  outcome: ModelOutcome;
  retries: RetryNotice[];
  texts: string[];
}

export async function ask(
  model: Model,
  request: ModelRequest = requestOf(),
  signal: AbortSignal = new AbortController().signal,
): Promise<Asked> {
  const retries: RetryNotice[] = [];
  const texts: string[] = [];
  const outcome = await model.answer(request, {
    signal,
    async onRetry(notice) {
      retries.push(notice);
    },
    onText: (text) => texts.push(text),
  });
  return { outcome, retries, texts };
}

/** The answer of an outcome that has to be one. */
export function answerOf({ outcome }: Asked): Extract<ModelOutcome, { kind: 'answer' }>['answer'] {
  if (outcome.kind !== 'answer') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
  return outcome.answer;
}

export function failureOf({ outcome }: Asked): Extract<ModelOutcome, { kind: 'failed' }>['failure'] {
  if (outcome.kind !== 'failed') throw new Error(`no failure: ${JSON.stringify(outcome)}`);
  return outcome.failure;
}

/** What a tool call of the answer got, as the loop would say it. */
export function resultsFor(asked: Asked, text = 'result'): Message[] {
  const { parts } = answerOf(asked);
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  const results = calls.map(({ id, name }) => ({ callId: id, name, text, isError: false }));
  return [{ role: 'assistant', parts }, ...(results.length === 0 ? [] : [{ role: 'tool' as const, results }])];
}
