import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadModelKeys } from '../../src/model/index.ts';
import { runKeyCommand } from '../../src/model/run-key-command.ts';
import { splitShellWords } from '../../src/model/shell-words.ts';
import { modelPolicy } from './fixtures.ts';

const KEY = ['value', process.pid, 'of-a-test'].join('-');
const ENV = { PATH: process.env['PATH'] };

async function folderWith(text: string): Promise<{ folder: string; file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-keys-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'key.txt'), text);
  return { folder, file: join(folder, 'key.txt') };
}

describe('the key of a model', () => {
  test('comes from the variable that the policy names', async () => {
    const keys = await loadModelKeys(modelPolicy({ apiKeyEnv: 'MY_KEY' }), {
      env: { MY_KEY: ` ${KEY}\n` },
      folder: '/',
    });
    expect(keys).toEqual({ apiKey: KEY, headers: {}, secrets: [{ name: 'MY_KEY', value: KEY }] });
  });

  test.each([
    ['openai', 'OPENAI_API_KEY'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['google', 'GEMINI_API_KEY'],
    ['@ai-sdk/azure', 'AZURE_API_KEY'],
  ])('of %s is usually in %s', async (provider, variable) => {
    const keys = await loadModelKeys(modelPolicy({ provider }), {
      env: { [variable]: KEY, OTHER_API_KEY: 'x' },
      folder: '/',
    });
    expect(keys.secrets).toEqual([{ name: variable, value: KEY }]);
  });

  test.each([
    ['@ai-sdk/amazon-bedrock', 'AWS_BEARER_TOKEN_BEDROCK'],
    ['@ai-sdk/google-vertex', 'GOOGLE_VERTEX_API_KEY'],
    ['@ai-sdk/mistral', 'MISTRAL_API_KEY'],
  ])('is left to %s, which reads %s itself, but is known to be secret', async (provider, variable) => {
    const keys = await loadModelKeys(modelPolicy({ provider }), {
      env: { [variable]: KEY, OTHER_API_KEY: 'x' },
      folder: '/',
    });
    expect(keys).toEqual({ apiKey: null, headers: {}, secrets: [{ name: variable, value: KEY }] });
  });

  test('of openai is never given to another server', async () => {
    const keys = await loadModelKeys(modelPolicy({ baseUrl: 'https://models.example/v1' }), {
      env: { OPENAI_API_KEY: KEY },
      folder: '/',
    });
    expect(keys).toEqual({ apiKey: null, headers: {}, secrets: [] });
  });

  test('comes from a file, relative to the folder given', async () => {
    const { folder } = await folderWith(`${KEY}\n`);
    const keys = await loadModelKeys(modelPolicy({ apiKeyFile: 'key.txt' }), { env: {}, folder });
    expect(keys.apiKey).toBe(KEY);
  });

  test('comes from a file descriptor, which is read to its end and closed', async () => {
    const { file } = await folderWith(`${KEY}\n`);
    const handle = await open(file);
    const keys = await loadModelKeys(modelPolicy({ apiKeyFd: handle.fd }), { env: {}, folder: '/' });
    expect(keys.apiKey).toBe(KEY);
    await expect(handle.close()).rejects.toMatchObject({ code: 'EBADF' });
  });

  test('comes from a program that is started without a shell in the home directory', async () => {
    const command = `node -p 'process.argv.slice(1).join("+") + process.cwd()' -- "a b" $HOME`;
    const keys = await loadModelKeys(modelPolicy({ apiKeyCommand: command }), { env: ENV, folder: '/' });
    expect(keys.apiKey).toBe(`a b+$HOME${homedir()}`);
  });

  test.each([
    [{ apiKeyEnv: 'ABSENT' }, 'model.api_key_env names the variable ABSENT, which is not set'],
    [{ apiKeyFile: '/nonexistent/key' }, '/nonexistent/key (model.api_key_file) cannot be read (ENOENT)'],
    [{ apiKeyFile: '/tmp' }, '/tmp (model.api_key_file) cannot be read (EISDIR)'],
    [{ apiKeyFile: '/dev/null' }, '/dev/null (model.api_key_file) holds no key'],
    [{ apiKeyFile: '/dev/zero' }, '/dev/zero (model.api_key_file) holds more than 65536 bytes: that is no key'],
    [{ apiKeyFd: 987 }, 'file descriptor 987 (model.api_key_fd) cannot be read (EBADF)'],
    [{ apiKeyCommand: 'no-such-program-here' }, 'model.api_key_command no-such-program-here was not found'],
    [
      { apiKeyCommand: './key.sh' },
      'model.api_key_command ./key.sh: give the program as an absolute path, ~/… or a name on PATH',
    ],
    [{ apiKeyCommand: 'node "x' }, 'a quote is not closed in: node "x'],
    [
      { apiKeyCommand: `node -e 'console.log("hidden"); process.exit(3)'` },
      `model.api_key_command node -e 'console.log("hidden"); process.exit(3)' ended with exit code 3`,
    ],
    [{ headersEnv: { 'x-team': 'ABSENT' } }, 'model.headers_env names the variable ABSENT, which is not set'],
    [
      { apiKeyEnv: 'TWO_LINES' },
      'the value of TWO_LINES holds a line break or another character that a header cannot carry',
    ],
    [
      { provider: 'openai', name: 'gpt-5' },
      'the model openai/gpt-5 needs a key: set OPENAI_API_KEY, or name its source in model.api_key_env, api_key_file or api_key_command',
    ],
    [
      { provider: '@ai-sdk/amazon-bedrock', name: 'm' },
      'the model @ai-sdk/amazon-bedrock/m needs a key: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name its source in model.api_key_env, api_key_file or api_key_command',
    ],
  ])('that is not to be had is a usage error: %j', async (given, message) => {
    await expect(
      loadModelKeys(modelPolicy(given), { env: { ...ENV, TWO_LINES: 'a\nb' }, folder: '/' }),
    ).rejects.toMatchObject({ name: 'UsageError', code: 'key', message });
  });

  test('is not needed by a server on this machine', async () => {
    expect(
      (
        await loadModelKeys(modelPolicy({ provider: 'openai', baseUrl: 'http://localhost:1/v1' }), {
          env: {},
          folder: '/',
        })
      ).apiKey,
    ).toBeNull();
  });

  test('is waited for only so long', async () => {
    await expect(runKeyCommand('node -e "setInterval(() => {}, 1000)"', { env: ENV, timeoutMs: 300 })).rejects.toThrow(
      'did not end within 0.3 s',
    );
  });

  test('is a secret, and so are headers and the proxy’s password', async () => {
    const env = { A: KEY, TEAM: 'team-value', HTTPS_PROXY: 'http://user:p%40ss@proxy.example:8080' };
    const keys = await loadModelKeys(modelPolicy({ apiKeyEnv: 'A', headersEnv: { 'x-team': 'TEAM' } }), {
      env,
      folder: '/',
    });
    expect(keys.headers).toEqual({ 'x-team': 'team-value' });
    expect(keys.secrets).toEqual([
      { name: 'A', value: KEY },
      { name: 'TEAM', value: 'team-value' },
      { name: 'HTTPS_PROXY', value: 'p%40ss' },
      { name: 'HTTPS_PROXY', value: 'p@ss' },
    ]);
  });
});

test.each([
  ['a  b', ['a', 'b']],
  [`a 'b  c' "d e"`, ['a', 'b  c', 'd e']],
  [`a\\ b "c\\"d" 'e\\f'`, ['a b', 'c"d', 'e\\f']],
  [`'' ""`, ['', '']],
  ['a;b|c $(d) `e` *', ['a;b|c', '$(d)', '`e`', '*']],
  ['  ', []],
])('the words of %s', (command, words) => {
  expect(splitShellWords(command)).toEqual(words);
});
