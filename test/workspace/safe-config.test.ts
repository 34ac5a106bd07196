import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGit, findGit } from '../../src/workspace/git.ts';
import { isPlainConfig, renderSafeConfig } from '../../src/workspace/safe-config.ts';
import { createFolder, createRepository } from './repository.ts';

const path = process.env['PATH'] ?? '';

test('the configuration that git itself writes needs no second look', async () => {
  const dir = await createRepository({ x: 'x' });
  expect(isPlainConfig(await readFile(join(dir, '.git/config'), 'utf8'))).toBe(true);
});

test.each([
  '[remote "o"]\n\turl = https://user:word@example.org/x\n',
  '[remote "o"]\n\turl = https://example.org/x?key=1\n',
  '[http]\n\textraheader = word\n',
  '[http "https://example.org/"]\n\textraheader = word\n',
  '[core]\n\tsshCommand = word\n',
  '[core]\n\tbare = false \\\n\tsshCommand = word\n',
  '[core]\n\tbare = "false"\n',
  '[include]\n\tpath = x\n',
  '[core] sshCommand = word\n',
  '[user]\n\tname = a\n\tname\n',
  '# word\n',
  '[core "x"]\n\tbare = false\n',
])('%j is looked at by git', (text) => {
  expect(isPlainConfig(text)).toBe(false);
});

test('what passes as plain is what git finds nothing to leave out of', async () => {
  const dir = await createFolder();
  const git = createGit(await findGit(path, dir), dir, {});
  const file = join(dir, 'config');
  const section = fc.constantFrom('[core]', '[remote "o"]', '[branch "a/b"]', '[http]', '[user]', '[gc]', '[include]');
  const key = fc.constantFrom('bare', 'url', 'sshCommand', 'merge', 'name', 'path', 'auto', 'hooksPath', 'fetch');
  const value = fc.oneof(
    fc.constantFrom('true', 'git@host:x', 'https://a:b@host/', '"x', 'a # b', 'a;b', '\\', 'x\\', '+refs/*:refs/*', ''),
    fc.stringMatching(/^[\x20-\x7e]{0,8}$/),
  );
  const line = fc.oneof(
    section,
    fc
      .tuple(fc.constantFrom('\t', '', ' '), key, fc.constantFrom(' = ', '=', ' '), value)
      .map((parts) => parts.join('')),
  );
  let plain = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 6 }), async (lines) => {
      const text = `${lines.join('\n')}\n`;
      if (!isPlainConfig(text)) return;
      plain += 1;
      await writeFile(file, text);
      expect(await renderSafeConfig(git, file)).toBeNull();
    }),
    { numRuns: 1000, seed: 7 },
  );
  expect(plain).toBeGreaterThan(50);
});
