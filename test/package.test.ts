import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commitAll, createBench, runCli, writeCassette } from './scenario.ts';

const ROOT = join(import.meta.dirname, '..');
const MB = 1024 * 1024;

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  files: readonly string[];
}
const MANIFEST: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Bytes on disk, as blocks: small files cost one each. */
function sizeOf(path: string): number {
  const stats = statSync(path);
  return stats.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 4096)
    : Math.ceil(stats.size / 4096) * 4096;
}

/** Names of packages that a folder of node_modules needs, itself included. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const manifest: Partial<Manifest> = JSON.parse(
    readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'),
  );
  for (const needed of Object.keys(manifest.dependencies ?? {})) closureOf(needed, found);
  return found;
}

test('the package and all that npm installs with it take at most 40 MB', () => {
  const needed = new Set<string>();
  for (const name of Object.keys(MANIFEST.dependencies)) closureOf(name, needed);
  const own = MANIFEST.files.reduce((sum, name) => sum + sizeOf(join(ROOT, name)), 0);
  const others = [...needed].reduce((sum, name) => sum + sizeOf(join(ROOT, 'node_modules', name)), 0);
  const optional = sizeOf(join(ROOT, 'node_modules/@vscode'));
  expect(Math.round((own + others + optional) / MB)).toBeLessThanOrEqual(40);
});

test('the package works where nothing is installed beside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-package-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of [...MANIFEST.files, 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const bench = createBench({ 'belay.yml': 'version: 1\nverify: {checks: [{name: one, run: "test -s one.txt"}]}\n' });
  onTestFinished(() => bench.remove());
  commitAll(bench);
  const calls = [
    { name: 'search', input: { pattern: 'version' } },
    { name: 'shell', input: { command: 'echo one > one.txt' } },
    { name: 'finish', input: { status: 'done', summary: 'one is there' } },
  ];
  const cassette = writeCassette(
    bench,
    calls.map((call) => ({ tool_calls: [call] })),
  );
  const { code, result } = await runCli(['run', 'make one', '--replay', cassette], bench, {
    cli: join(folder, 'dist/cli.js'),
  });
  expect({ code, outcome: result?.outcome }).toEqual({ code: 0, outcome: 'verified' });
});

test('the library is a module with the names of its entry', () => {
  const script = `
    const sdk = await import(${JSON.stringify(join(ROOT, 'dist/index.mjs'))});
    process.stdout.write(Object.keys(sdk).filter((name) => typeof sdk[name] === 'function').sort().join(' '));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.split(' ')).toEqual(expect.arrayContaining(['startRun', 'loadPolicy', 'createEventChannel']));
});

test('the licences of what was bundled lie beside it', () => {
  const text = readFileSync(join(ROOT, 'dist/LICENSES.txt'), 'utf8');
  const named = [...text.matchAll(/^(\S+) \d\S* \((.+)\)$/gm)].map(([, name, license]) => ({ name, license }));
  expect(named.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['zod', 'yaml', 'yargs', 'undici', '@ai-sdk/openai']),
  );
  expect(named.filter(({ license }) => /GPL|UNLICENSED/.test(license ?? ''))).toEqual([]);
});
