import { createReadStream } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { codeOf, UsageError } from '../errors.ts';
import type { ModelPolicy } from '../policy/index.ts';
import { type Environment, isLoopback } from './proxy.ts';
import { runKeyCommand } from './run-key-command.ts';

/** A value that no stream may show, with the name that stands for it. */
export interface Secret {
  name: string;
  value: string;
}

export interface ModelKeys {
  /** null: the provider is asked without a key. */
  apiKey: string | null;
  /** From `headers_env`. */
  headers: Readonly<Record<string, string>>;
  /** For the redactor: known before anything is emitted. */
  secrets: readonly Secret[];
}

export interface KeyOptions {
  env: Environment;
  /** What a relative `api_key_file` is relative to. */
  folder: string;
}

const MAX_KEY_BYTES = 64 * 1024;
const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

/** Where the key of a provider usually is. */
const USUAL_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  '@ai-sdk/azure': ['AZURE_API_KEY'],
};

const AWS_CREDENTIALS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];

/** What a provider package reads itself beside `<PACKAGE>_API_KEY`. */
const VARIABLES_OF_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@ai-sdk/amazon-bedrock': ['AWS_BEARER_TOKEN_BEDROCK', ...AWS_CREDENTIALS, 'AWS_SESSION_TOKEN'],
};

/**
 * Reads the key and the secret headers of a model. The source that the policy names counts (a command before a descriptor, a
 * file, a variable), else the provider's usual variable. Throws `UsageError` (code `key`) when a named source has nothing, and
 * when a provider that needs a key has none; a server on this machine, `openai-compatible` and most provider packages need none.
 */
export async function loadModelKeys(model: ModelPolicy, options: KeyOptions): Promise<ModelKeys> {
  const key = await readKey(model, options);
  const headers = Object.entries(model.headersEnv).map(([header, variable]) => {
    const value = options.env[variable];
    if (value === undefined || value === '')
      throw new UsageError(`model.headers_env names the variable ${variable}, which is not set`, { code: 'key' });
    return { name: variable, header, value: checked(value, variable) };
  });
  const proxies = PROXY_VARIABLES.flatMap((name) => passwordOf(options.env[name]).map((value) => ({ name, value })));
  return {
    apiKey: key?.value ?? null,
    headers: Object.fromEntries(headers.map(({ header, value }) => [header, value])),
    secrets: [
      ...(key === null ? [] : [key]),
      ...headers.map(({ name, value }) => ({ name, value })),
      ...ownSecrets(model.provider, options.env).filter(({ value }) => value !== key?.value),
      ...proxies,
    ],
  };
}

async function readKey(model: ModelPolicy, { env, folder }: KeyOptions): Promise<Secret | null> {
  if (model.provider === 'replay') return null;
  if (model.apiKeyCommand !== null)
    return named(
      'api_key_command',
      await runKeyCommand(model.apiKeyCommand, { env }),
      `model.api_key_command ${model.apiKeyCommand} printed nothing`,
    );
  if (model.apiKeyFd !== null) {
    const fd = model.apiKeyFd;
    return named(
      'api_key_fd',
      await readAll(() => createReadStream('', { fd }), `file descriptor ${fd} (model.api_key_fd)`),
      `file descriptor ${fd} (model.api_key_fd) holds no key`,
    );
  }
  if (model.apiKeyFile !== null) {
    const file = model.apiKeyFile.startsWith('~/')
      ? join(homedir(), model.apiKeyFile.slice(2))
      : resolve(folder, model.apiKeyFile);
    return named(
      'api_key_file',
      await readAll(() => createReadStream(file), `${file} (model.api_key_file)`),
      `${file} (model.api_key_file) holds no key`,
    );
  }
  if (model.apiKeyEnv !== null)
    return named(
      model.apiKeyEnv,
      env[model.apiKeyEnv] ?? '',
      `model.api_key_env names the variable ${model.apiKeyEnv}, which is not set`,
    );
  return usualKey(model, env);
}

function usualKey(model: ModelPolicy, env: Environment): Secret | null {
  const usual = USUAL_VARIABLES[model.provider] ?? [];
  const found = usual.find((name) => (env[name] ?? '').trim() !== '');
  if (found !== undefined) return named(found, env[found] ?? '', found);
  if (model.baseUrl !== null && isLocal(model.baseUrl)) return null;
  const isSet = (name: string) => (env[name] ?? '').trim() !== '';
  if (
    model.provider === '@ai-sdk/amazon-bedrock' &&
    !isSet('AWS_BEARER_TOKEN_BEDROCK') &&
    !AWS_CREDENTIALS.every(isSet)
  )
    throw new UsageError(
      `the model ${model.provider}/${model.name} needs a key: set AWS_BEARER_TOKEN_BEDROCK, or ${AWS_CREDENTIALS.join(' and ')}, or name its source in model.api_key_env, api_key_file or api_key_command`,
      { code: 'key' },
    );
  if (usual.length === 0) return null;
  throw new UsageError(
    `the model ${model.provider}/${model.name} needs a key: set ${usual.join(' or ')}, or name its source in model.api_key_env, api_key_file or api_key_command`,
    { code: 'key' },
  );
}

/** What a provider package reads itself where the policy names no key: left to it, but known to be secret. */
function ownSecrets(provider: string, env: Environment): Secret[] {
  const last = provider.slice(provider.lastIndexOf('/') + 1);
  const usual = `${last.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`;
  return [...(VARIABLES_OF_PACKAGES[provider] ?? []), usual].flatMap((name) => {
    const value = env[name]?.trim() ?? '';
    return value === '' ? [] : [{ name, value }];
  });
}

function isLocal(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

function named(name: string, text: string, missing: string): Secret {
  const value = text.trim();
  if (value === '') throw new UsageError(missing, { code: 'key' });
  return { name, value: checked(value, name) };
}

/** What a header cannot carry would come back as an error of Node's that quotes it. */
function checked(value: string, name: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw new UsageError(`the value of ${name} holds a line break or another character that a header cannot carry`, {
      code: 'key',
    });
  return value;
}

async function readAll(open: () => Readable, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of open()) {
      const buffer = Buffer.from(chunk);
      bytes += buffer.length;
      if (bytes > MAX_KEY_BYTES)
        throw new UsageError(`${name} holds more than ${MAX_KEY_BYTES} bytes: that is no key`, { code: 'key' });
      chunks.push(buffer);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = codeOf(error) ?? String(error);
    throw new UsageError(`${name} cannot be read (${code})`, { code: 'key', cause: error });
  }
  return Buffer.concat(chunks).toString('utf8');
}

function passwordOf(proxy: string | undefined): string[] {
  if (proxy === undefined || !URL.canParse(proxy)) return [];
  const { password } = new URL(proxy);
  return password === '' ? [] : [...new Set([password, safeDecode(password)])];
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
