import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

it('docs/sandbox.md names tests that are there', () => {
  const document = readFileSync(path.join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8').replace(/\s+/g, ' ');
  const claims = [...document.matchAll(/«([^»]+)»/g)].map((match) => match[1] ?? '');
  const tests = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(path.join(import.meta.dirname, name), 'utf8').replace(/\s+/g, ' '))
    .join(' ');
  expect(claims.length).toBeGreaterThan(20);
  expect(claims.filter((title) => !tests.includes(`'${title}`) && !tests.includes(`"${title}`))).toEqual([]);
});
