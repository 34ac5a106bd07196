import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

/** Exit code and what a person is told, of a command line that starts nothing. */
function tell(...words: string[]): Promise<{ code: number; said: string }> {
  return tellWith({}, words);
}

function tellWith(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const options = { cwd: import.meta.dirname, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, [CLI, ...words], options, (_error, _out, said) => {
      resolve({ code: child.exitCode ?? -1, said: said.trim() });
    });
    child.stdin?.end();
  });
}

describe('the command line', () => {
  it.each([
    { words: ['rnu', 'a'], said: 'belay: there is no command rnu; did you mean run? (see belay --help)' },
    { words: ['frobnicate'], said: 'belay: there is no command frobnicate (see belay --help)' },
    { words: [], said: 'belay: name a command; see belay --help' },
  ])('refuses $words with what is wrong', async ({ words, said }) => {
    expect(await tell(...words)).toEqual({ code: 2, said });
  });

  it.each([['audit'], ['report'], ['replay']])('tells a folder from a broken stream in %s', async (command) => {
    expect(await tell(command, import.meta.dirname)).toEqual({
      code: 2,
      said: `belay: cannot read ${import.meta.dirname}: it is a folder`,
    });
  });

  it('takes a goal that begins with a dash after --', async () => {
    const answer = await tell('run', '--policy', '/nowhere/belay.yml', '--', '--fix the parser');
    expect(answer).toEqual({ code: 2, said: expect.stringContaining('/nowhere/belay.yml') });
  });
});

describe('the environment', () => {
  it.each([
    ['BELAY_WALLTIME', 'BELAY_WALL_TIME'],
    ['BELAY_POLICY_FLOR', 'BELAY_POLICY_FLOOR'],
    ['BELAY_TRUST_REFS', 'BELAY_TRUST_REF'],
  ])('with %s, a misspelt option, is refused', async (name, meant) => {
    expect(await tellWith({ [name]: 'x' }, ['run', 'go'])).toEqual({
      code: 2,
      said: `belay: ${name} is no option of belay; did you mean ${meant}? Rename it, or unset it`,
    });
  });

  it('with other unknown BELAY_ names is told in one line, and values stay unsaid', async () => {
    const env = { BELAY_IMAGE: 'private-image', BELAY_PATH: '/opt/belay', BELAY_PUSH_TOKEN: '' };
    expect(await tellWith(env, ['schema', 'job'])).toEqual({
      code: 0,
      said: 'belay: no option of belay, and without effect: BELAY_IMAGE, BELAY_PATH (did you mean BELAY_PATCH?)',
    });
  });

  it('may name options of any command, the state folder and the folder of providers', async () => {
    const env = { BELAY_SHARD: '1/2', BELAY_APPROVE: 'a', BELAY_HOME: '/nowhere', BELAY_PROVIDERS: '/nowhere' };
    expect(await tellWith(env, ['schema', 'job'])).toEqual({ code: 0, said: '' });
  });
});
