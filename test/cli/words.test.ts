import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

/** Exit code and what a person is told, of a command line that starts nothing. */
function tell(...words: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...words], { cwd: import.meta.dirname }, (_error, _out, said) => {
      resolve({ code: child.exitCode ?? -1, said: said.trim() });
    });
    child.stdin?.end();
  });
}

describe('the command line', () => {
  it.each([
    { words: ['run', '--turns'], said: 'belay: Not enough arguments following: turns' },
    { words: ['run', 'a', 'b'], said: 'belay: Unknown argument: b' },
    { words: ['run', '--', '-a', '-b'], said: 'belay: Unknown argument: -b' },
    { words: ['run', 'a', '--nope', 'x'], said: 'belay: Unknown argument: nope' },
    { words: ['rnu', 'a'], said: 'belay: there is no command rnu; did you mean run? (see belay --help)' },
    { words: ['frobnicate'], said: 'belay: there is no command frobnicate (see belay --help)' },
    { words: [], said: 'belay: name a command; see belay --help' },
  ])('refuses $words with what is wrong', async ({ words, said }) => {
    expect(await tell(...words)).toEqual({ code: 2, said });
  });

  it('takes a goal that begins with a dash after --', async () => {
    const answer = await tell('run', '--policy', '/nowhere/belay.yml', '--', '--fix the parser');
    expect(answer).toEqual({ code: 2, said: expect.stringContaining('/nowhere/belay.yml') });
  });
});
