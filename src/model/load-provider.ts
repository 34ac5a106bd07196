import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { UsageError } from '../errors.ts';
import type { ModelPolicy } from '../policy/index.ts';
import { findPackage } from './find-package.ts';
import type { ModelKeys } from './model-keys.ts';
import type { Environment } from './proxy.ts';
import { isRecord } from './tool-input.ts';
import type { Transport } from './transport.ts';
import { type Wire, wireOfPackage } from './wire.ts';

export interface ProviderOptions {
  model: ModelPolicy;
  keys: Pick<ModelKeys, 'apiKey' | 'headers'>;
  transport: Pick<Transport, 'fetch'>;
  env: Environment;
  /** Provider packages in it are never loaded. */
  workspace: string;
}

export interface LoadedProvider {
  wire: Wire;
  languageModel: Pick<LanguageModelV3, 'doStream'>;
}

/** Where the SDKs' own defaults would take an environment variable instead, the key goes only where the policy says. */
const BASE_URLS = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** Imports the one provider in use. Throws `UsageError` (code `provider`) for one that is not there or not fit. */
export async function loadProvider(options: ProviderOptions): Promise<LoadedProvider> {
  const { model, keys, transport } = options;
  const shared = { headers: { ...keys.headers }, fetch: transport.fetch };
  // A local server without a key gets a header that it does not read: the SDKs insist on one.
  const settings = { ...shared, apiKey: keys.apiKey ?? 'none' };
  switch (model.provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const openai = createOpenAI({ ...settings, baseURL: model.baseUrl ?? BASE_URLS.openai });
      if (model.api === 'chat') return { wire: 'openai-chat', languageModel: openai.chat(model.name) };
      return { wire: 'openai-responses', languageModel: openai.responses(model.name) };
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return {
        wire: 'anthropic',
        languageModel: createAnthropic({ ...settings, baseURL: model.baseUrl ?? BASE_URLS.anthropic })(model.name),
      };
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return {
        wire: 'google',
        languageModel: createGoogleGenerativeAI({ ...settings, baseURL: model.baseUrl ?? BASE_URLS.google })(
          model.name,
        ),
      };
    }
    case 'openai-compatible': {
      if (model.baseUrl === null)
        throw new UsageError('the provider openai-compatible needs model.base_url', { code: 'provider' });
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const key = keys.apiKey === null ? {} : { apiKey: keys.apiKey };
      const provider = createOpenAICompatible({
        ...shared,
        ...key,
        name: 'openaiCompatible',
        baseURL: model.baseUrl,
        includeUsage: true,
      });
      return { wire: 'openai-compatible', languageModel: provider.chatModel(model.name) };
    }
    default: {
      const wire = wireOfPackage(model.provider, model.name);
      // Ignoring it would be worse than refusing it.
      if (wire === 'other' && model.reasoningEffort !== null)
        throw new UsageError(
          `model.reasoning_effort: how ${model.provider} wants to be told is not known here; leave it out`,
          { code: 'provider' },
        );
      return { wire, languageModel: await loadPackageModel(options) };
    }
  }
}

async function loadPackageModel({
  model,
  keys,
  transport,
  env,
  workspace,
}: ProviderOptions): Promise<Pick<LanguageModelV3, 'doStream'>> {
  const name = model.provider;
  if (!/^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/.test(name))
    throw new UsageError(`model.provider ${name} is neither a provider of belay nor a package name`, {
      code: 'provider',
    });
  const folder = env['BELAY_PROVIDERS'];
  const from = [...(folder === undefined || folder === '' ? [] : [folder]), dirname(fileURLToPath(import.meta.url))];
  const entry = await findPackage(name, { from, workspace });
  if (entry === null) {
    throw new UsageError(
      `the provider package ${name} is not installed beside belay: npm install --global ${name} (or install it in a folder outside the workspace and name that folder in BELAY_PROVIDERS)`,
      { code: 'provider' },
    );
  }
  const loaded: unknown = await import(pathToFileURL(entry).href);
  const create = isRecord(loaded) || typeof loaded === 'object' ? creatorOf(name, { ...(loaded ?? {}) }) : null;
  if (create === null)
    throw new UsageError(`${name} exports no create… function: it is no AI SDK provider`, { code: 'provider' });
  const given = {
    ...(keys.apiKey === null ? {} : { apiKey: keys.apiKey }),
    ...(model.baseUrl === null ? {} : { baseURL: model.baseUrl }),
  };
  const provider: unknown = create({ ...given, headers: { ...keys.headers }, fetch: transport.fetch });
  const languageModel: unknown = callMethod(provider, 'languageModel', model.name);
  if (!isLanguageModel(languageModel))
    throw new UsageError(`${name} is not for AI SDK specification v3: install the release line that is`, {
      code: 'provider',
    });
  return languageModel;
}

type Creator = (settings: Record<string, unknown>) => unknown;

/** `@ai-sdk/amazon-bedrock` → `createAmazonBedrock`, else the only export that begins so. */
function creatorOf(name: string, exports: Record<string, unknown>): Creator | null {
  const words = name
    .slice(name.lastIndexOf('/') + 1)
    .split(/[-._]/)
    .join('')
    .toLowerCase();
  const creators = Object.entries(exports).filter(
    (entry): entry is [string, Creator] => /^create[A-Z]/.test(entry[0]) && typeof entry[1] === 'function',
  );
  const exact = creators.find(([key]) => key.slice('create'.length).toLowerCase() === words);
  return (exact ?? (creators.length === 1 ? creators[0] : undefined))?.[1] ?? null;
}

function callMethod(target: unknown, method: string, argument: string): unknown {
  if ((typeof target !== 'object' && typeof target !== 'function') || target === null) return undefined;
  const found: unknown = Reflect.get(target, method);
  return typeof found === 'function' ? Reflect.apply(found, target, [argument]) : undefined;
}

function isLanguageModel(value: unknown): value is LanguageModelV3 {
  if (typeof value !== 'object' || value === null) return false;
  const version: unknown = Reflect.get(value, 'specificationVersion');
  return (version === 'v3' || version === 'v4') && typeof Reflect.get(value, 'doStream') === 'function';
}
