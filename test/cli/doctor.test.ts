import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { IS_LINUX } from '../sandbox/fixture.ts';
import { type Bench, CLI, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';

const Findings = z.array(
  z.object({
    name: z.string(),
    works: z.boolean(),
    required: z.boolean(),
    says: z.string(),
    fix: z.string().nullable(),
  }),
);

let bench: Bench;
afterEach(() => bench.remove());

/** In parts: a scanner of secrets must not take it for one. */
const KEY = ['words', 'of', 'the', 'key'].join('-');

async function examine(env: NodeJS.ProcessEnv = {}): Promise<Map<string, z.infer<typeof Findings>[number]>> {
  const { stdout } = await runCli(['doctor', '--json'], bench, { env });
  return new Map(Findings.parse(JSON.parse(stdout)).map((finding) => [finding.name, finding]));
}

describe('belay doctor', () => {
  beforeEach(() => {
    bench = createBench({});
  });

  it('says which way out belay itself has, by the names of variables and never by what they hold', async () => {
    expect((await examine()).get('network')).toMatchObject({ works: true, says: 'direct, no proxy or extra CA named' });
    const password = ['pass', 'word', 'of', 'proxy'].join('-');
    const { stdout } = await runCli(['doctor'], bench, {
      env: { HTTPS_PROXY: `http://user:${password}@proxy.example:3128`, NO_PROXY: 'localhost' },
    });
    expect(stdout).toMatch(/^ok {3}network: from the environment: HTTPS_PROXY, NO_PROXY$/m);
    expect(stdout).not.toContain(password);
  });

  it.each<[string, { model: object; files?: Record<string, string>; env?: NodeJS.ProcessEnv }, boolean, string]>([
    ['in its usual variable', { model: {}, env: { OPENAI_API_KEY: KEY } }, true, 'from OPENAI_API_KEY'],
    ['in a variable of its own', { model: { api_key_env: 'K' }, env: { K: KEY } }, true, 'from K'],
    ['in a file', { model: { api_key_file: 'key' }, files: { key: `${KEY}\n` } }, true, 'from api_key_file'],
    [
      'printed by a command',
      { model: { api_key_command: 'printenv K' }, env: { K: KEY } },
      true,
      'from api_key_command',
    ],
    ['nowhere', { model: {} }, false, 'needs a key: set OPENAI_API_KEY, or name its source'],
    ['a variable that is not set', { model: { api_key_env: 'K' } }, false, 'the variable K, which is not set'],
    ['an empty variable', { model: { api_key_env: 'K' }, env: { K: ' ' } }, false, 'the variable K, which is not set'],
    ['a missing file', { model: { api_key_file: 'key' } }, false, 'key (model.api_key_file) cannot be read (ENOENT)'],
    ['an empty file', { model: { api_key_file: 'key' }, files: { key: '\n' } }, false, 'holds no key'],
    ['a folder', { model: { api_key_file: '.' } }, false, 'cannot be read (EISDIR)'],
    ['a key of two lines', { model: { api_key_file: 'key' }, files: { key: `${KEY}\n${KEY}` } }, false, 'a line break'],
    ['a descriptor that is closed', { model: { api_key_fd: 9 } }, false, 'file descriptor 9 (model.api_key_fd)'],
    [
      'a command that fails after it printed',
      { model: { api_key_command: 'sh -c "printenv K; exit 3"' }, env: { K: KEY } },
      false,
      'ended with exit code 3',
    ],
    ['a command that is not there', { model: { api_key_command: 'no-such-program' } }, false, 'was not found'],
    ['a key that is not needed', { model: { provider: 'replay' } }, true, 'works without a key'],
  ])('tells of the model key, and never tells it: %s', async (_, { model, files = {}, env = {} }, there, words) => {
    const policy = { version: 1, model: { provider: 'openai', name: 'm', ...model } };
    for (const [name, text] of Object.entries({ ...files, 'belay.yml': JSON.stringify(policy) }))
      bench.write(name, text);
    const { stdout, stderr } = await runCli(['doctor', '--json'], bench, { env });
    const finding = Findings.parse(JSON.parse(stdout)).find(({ name }) => name === 'model key');
    expect(finding).toMatchObject({ works: there, required: !there, says: expect.stringContaining(words) });
    expect(finding?.fix ?? '').toContain(there ? '' : 'name another source of it in belay.yml');
    expect(stdout + stderr).not.toContain(KEY);
  });

  it('reads the key of a descriptor, and says of a broken policy where it is broken', async () => {
    bench.write('belay.yml', JSON.stringify({ version: 1, model: { provider: 'openai', name: 'm', api_key_fd: 3 } }));
    bench.write('key', KEY);
    const key = openSync(join(bench.ws, 'key'), 'r');
    const { stdout } = spawnSync(process.execPath, [CLI, 'doctor'], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'pipe', key],
      encoding: 'utf8',
    });
    closeSync(key);
    expect(stdout).toMatch(/^ok {3}model key: openai\/m: the key is there \(from api_key_fd\)$/m);
    expect(stdout).not.toContain(KEY);
    bench.write('belay.yml', 'version: 1\nmodell: {}\n');
    expect((await examine()).get('model key')).toMatchObject({
      works: false,
      says: expect.stringMatching(/belay\.yml:2:1.*model/),
      fix: 'mend belay.yml: belay policy check says where',
    });
  });
});

describe.each(USERS)('belay doctor, run by $who,', ({ uid, works }) => {
  beforeEach(() => {
    bench = createBench({}, uid);
  });

  it.skipIf(!works || !IS_LINUX)('probes the fence, and says how to mend what does not work', async () => {
    const sandbox = [...(await examine())].filter(([name]) => name.startsWith('sandbox'));
    expect(sandbox.length).toBeGreaterThan(0);
    expect(sandbox.filter(([, finding]) => !finding.works && finding.fix === null)).toEqual([]);
    const without = await examine({ PATH: process.execPath.replace(/\/node$/, '/../lib/nowhere') });
    expect(without.get('git')).toMatchObject({ works: false, fix: 'install git 2.38 or newer' });
  });
});
