import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { compareSandboxDocument } from '../../scripts/escape-matrix.ts';

it('docs/sandbox.md names tests that are there', () => {
  const document = readFileSync(path.join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8').replace(/\s+/g, ' ');
  const claims = [...document.matchAll(/«([^»]+)»/g)].map((match) => match[1] ?? '');
  const root = path.join(import.meta.dirname, '..');
  const tests = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(path.join(root, file), 'utf8').replace(/\s+/g, ' '))
    .join(' ');
  expect(claims.length).toBeGreaterThan(20);
  expect(
    claims.filter(
      (title) => !tests.includes(`'${title}`) && !tests.includes(`"${title}`) && !tests.includes(`\`${title}`),
    ),
  ).toEqual([]);
});

it('docs/sandbox.md has the table of escapes as the attempts are', async () => {
  const { actual, expected } = await compareSandboxDocument();
  expect(actual).toBe(expected);
});
