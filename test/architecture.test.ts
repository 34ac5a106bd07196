import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import glob from 'fast-glob';
import { describe, expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../src');
/** Rooms in the order of the house: a room imports only from rooms above it. */
const ROOMS = [
  'events',
  'policy',
  'thread',
  'model',
  'sandbox',
  'workspace',
  'tools',
  'context',
  'verify',
  'loop',
  'run',
  'batch',
  'report',
  'server',
  'cli',
];
const FORBIDDEN: readonly [string, string][] = [
  ['loop', 'sandbox'],
  ['model', 'tools'],
];
const BANNED_NAMES = /(^|-)(utils?|helpers?|common|core|lib|manager|service|base)(-|$)/;

interface Import {
  file: string;
  room: string;
  target: string;
  targetRoom: string;
}

const files = glob.sync('**/*.ts', { cwd: SRC }).sort();
const roomOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '');
const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8');
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');

function importsOf(file: string): Import[] {
  const found = [...withoutComments(textOf(file)).matchAll(/(?:from|import\(|import)\s*['"](\.[^'"]+)['"]/g)];
  return found.map((match) => {
    const target = relative(SRC, join(SRC, dirname(file), match[1] ?? ''))
      .split(sep)
      .join('/');
    return { file, room: roomOf(file), target, targetRoom: roomOf(target) };
  });
}
const imports = files.flatMap(importsOf);
const between = imports.filter((one) => one.room !== one.targetRoom && one.targetRoom !== '');

describe('the house', () => {
  it('has no folder in src but its rooms', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => room !== '' && !ROOMS.includes(room))).toEqual([]);
    expect(files.filter((file) => !file.includes('/'))).toEqual(['errors.ts', 'index.ts']);
  });

  it('lets a room import only from rooms above it', () => {
    const upwards = between.filter(
      (one) => one.room !== '' && ROOMS.indexOf(one.targetRoom) >= ROOMS.indexOf(one.room),
    );
    expect(upwards.map((one) => `${one.file} → ${one.target}`)).toEqual([]);
  });

  it('enters a room through its index', () => {
    expect(
      between.filter((one) => one.target !== `${one.targetRoom}/index.ts`).map((one) => `${one.file} → ${one.target}`),
    ).toEqual([]);
  });

  it('keeps loop from sandbox and model from tools', () => {
    // A type of the sandbox may reach the loop through the tools' port, never by an import.
    const bad = between.filter((one) => FORBIDDEN.some(([from, to]) => one.room === from && one.targetRoom === to));
    expect(bad.map((one) => `${one.file} → ${one.target}`)).toEqual([]);
  });

  it('has no import cycle within a room', () => {
    const edges = new Map<string, string[]>();
    for (const one of imports) edges.set(one.file, [...(edges.get(one.file) ?? []), one.target]);
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file)) {
        cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
        return;
      }
      if (done.has(file)) return;
      for (const target of edges.get(file) ?? []) visit(target, [...trail, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('keeps files short: 300 lines at most, the median at 80 or less', () => {
    const lengths = files.map((file) => ({ file, lines: textOf(file).split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > 300)).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(80);
  });

  it('names files in kebab-case and never by a word that says nothing', () => {
    const names = files.map((file) => basename(file).replace(/(\.d)?\.ts$/, ''));
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || BANNED_NAMES.test(name))).toEqual([]);
  });

  it('prints and exits only in cli', () => {
    const printing = /\bconsole\.|process\.(stdout|stderr|exit\b|exitCode)/;
    expect(files.filter((file) => roomOf(file) !== 'cli' && printing.test(withoutComments(textOf(file))))).toEqual([]);
  });

  it('uses no default export and no wildcard re-export', () => {
    const bad = /^export default|^export \* from/m;
    expect(files.filter((file) => bad.test(withoutComments(textOf(file))))).toEqual([]);
  });

  it('leaves nothing undone', () => {
    expect(files.filter((file) => /\b(TODO|FIXME|XXX|HACK)\b/.test(textOf(file)))).toEqual([]);
  });
});
