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

interface UsualKey {
  /** Variables; all of any one set will do. */
  sets: readonly (readonly string[])[];
  /** The provider's package reads them itself; else belay reads the one of a set. */
  isLeftToPackage?: true;
  /** Secrets that may go with them. */
  beside?: readonly string[];
}

/** Where the key of a provider that needs one usually is. */
const USUAL_KEYS: Readonly<Record<string, UsualKey>> = {
  openai: { sets: [['OPENAI_API_KEY']] },
  anthropic: { sets: [['ANTHROPIC_API_KEY']] },
  google: { sets: [['GOOGLE_GENERATIVE_AI_API_KEY'], ['GEMINI_API_KEY']] },
  '@ai-sdk/azure': { sets: [['AZURE_API_KEY']] },
  '@ai-sdk/amazon-bedrock': {
    sets: [['AWS_BEARER_TOKEN_BEDROCK'], ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']],
    isLeftToPackage: true,
    beside: ['AWS_SESSION_TOKEN'],
  },
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
  const usual = USUAL_KEYS[model.provider];
  if (usual === undefined) return null;
  const found = usual.sets.find((set) => set.every((name) => (env[name] ?? '').trim() !== ''));
  if (found !== undefined) {
    const [name = ''] = found;
    return usual.isLeftToPackage ? null : named(name, env[name] ?? '', name);
  }
  if (model.baseUrl !== null && isLocal(model.baseUrl)) return null;
  const sets = usual.sets.map((set) => set.join(' and ')).join(', or ');
  throw new UsageError(
    `the model ${model.provider}/${model.name} needs a key: set ${sets}, or name its source in model.api_key_env, api_key_file or api_key_command`,
    { code: 'key' },
  );
}

/** Everything that the provider's package may read by itself is a secret, also where the policy names another key. */
function ownSecrets(provider: string, env: Environment): Secret[] {
  const { sets = [], beside = [] } = USUAL_KEYS[provider] ?? {};
  const last = provider.slice(provider.lastIndexOf('/') + 1);
  const custom = `${last.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`;
  return [...new Set([...sets.flat(), ...beside, custom])].flatMap((name) => {
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
