import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isWithin } from '../../src/sandbox/is-within.ts';
import { planMounts } from '../../src/sandbox/mount-plan.ts';
import type { Mount } from '../../src/sandbox/sandbox.ts';
import { createFolders, type Folders, mountOf } from './fixture.ts';

describe.skipIf(process.platform === 'win32')('the plan of mounts', () => {
  let folders: Folders;
  beforeEach(() => {
    folders = createFolders();
  });
  afterEach(() => folders.remove());
  const at = (file: string): string => path.join(folders.ws, file);
  const refusal = (...mounts: Mount[]): string => {
    const plan = planMounts(mounts);
    return plan.kind === 'refused' ? plan.reason : 'planned';
  };

  it('pins every folder above a nested mount once, so that none can be moved away', () => {
    for (const file of ['a/b/one', 'a/b/two', 'a/c/three']) folders.write(file);
    const plan = planMounts([
      mountOf(folders.ws, 'write'),
      mountOf(at('a/b/one'), 'read'),
      mountOf(at('a/b/two'), 'hidden'),
      mountOf(at('a/c/three'), 'read'),
    ]);
    const step = (kind: string, file: string) => ({ kind, from: at(file), to: at(file) });
    expect(plan).toEqual({
      kind: 'planned',
      steps: [
        { kind: 'write', from: folders.ws, to: folders.ws },
        step('write', 'a'),
        step('write', 'a/b'),
        step('read', 'a/b/one'),
        { kind: 'hidden', to: at('a/b/two'), shape: 'file' },
        step('write', 'a/c'),
        step('read', 'a/c/three'),
      ],
    });
  });

  it('pins nothing below what cannot be written anyway', () => {
    folders.write('.git/hooks/sample');
    const plan = planMounts([
      mountOf(folders.ws, 'write'),
      mountOf(at('.git'), 'read'),
      mountOf(at('.git/hooks'), 'hidden'),
    ]);
    expect(plan.kind === 'planned' && plan.steps.map((step) => step.kind)).toEqual(['write', 'read', 'hidden']);
  });

  it('takes the pins of a folder that is shown at another place from where it comes', () => {
    folders.write('a/kept');
    const plan = planMounts([mountOf(folders.ws, 'write', '/work'), mountOf(at('a/kept'), 'read', '/work/a/kept')]);
    expect(plan).toEqual({
      kind: 'planned',
      steps: [
        { kind: 'write', from: folders.ws, to: '/work' },
        { kind: 'write', from: at('a'), to: '/work/a' },
        { kind: 'read', from: at('a/kept'), to: '/work/a/kept' },
      ],
    });
  });

  it('refuses a link anywhere on the way, of the source and of the place', () => {
    folders.write('real/file');
    symlinkSync('real', at('link'));
    folders.write(path.join(folders.outside, 'file'));
    const ws = mountOf(folders.ws, 'write');
    expect(refusal(ws, mountOf(at('link/file'), 'read'))).toBe(
      `${at('link/file')} cannot be mounted: a symbolic link is on the way.`,
    );
    expect(refusal(ws, mountOf(at('link'), 'hidden'))).toBe(
      `${at('link')} cannot be mounted: a symbolic link is on the way.`,
    );
    expect(refusal(ws, mountOf(path.join(folders.outside, 'file'), 'read', at('link/file')))).toBe(
      `${at('link/file')} cannot be mounted: ${at('link')} is a symbolic link.`,
    );
  });

  it('refuses a place in the workspace that is not there or is of another shape', () => {
    folders.write('file');
    const ws = mountOf(folders.ws, 'write');
    expect(refusal(ws, mountOf(at('missing'), 'read'))).toBe(`${at('missing')} cannot be mounted: it does not exist.`);
    expect(refusal(ws, mountOf(folders.outside, 'read', at('missing')))).toBe(
      `${at('missing')} cannot be mounted: ${at('missing')} does not exist.`,
    );
    expect(refusal(ws, mountOf(folders.outside, 'read', at('file')))).toBe(
      `${at('file')} cannot be mounted: ${at('file')} is not a folder.`,
    );
    expect(refusal(ws, mountOf(at('file'), 'write'), mountOf(folders.outside, 'read', at('file/below')))).toBe(
      `${at('file/below')} cannot be mounted: ${at('file/below')} does not exist.`,
    );
  });

  it('refuses to make writable what the fence stands on, and paths that are not plain', () => {
    expect(['/', '/usr', '/etc', '/proc'].map((to) => refusal(mountOf(folders.ws, 'write', to)))).toEqual(
      ['/', '/usr', '/etc', '/proc'].map(
        (to) => `${to} cannot be writable inside the sandbox: choose a folder of its own for the workspace.`,
      ),
    );
    expect(['relative', '/a/../b', '/a/', ''].map((to) => refusal(mountOf(folders.ws, 'read', to)))).not.toContain(
      'planned',
    );
  });

  it('never asks for a mount point that is not there, whatever the workspace holds and the mounts are', () => {
    const names = ['a', 'b', 'c'];
    const place = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const entry = fc.record({ place, kind: fc.constantFrom('file', 'folder', 'link') });
    const mount = fc.record({
      place,
      access: fc.constantFrom<Mount['access']>('write', 'read', 'hidden'),
      moved: fc.boolean(),
    });
    let planned = 0;
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), fc.array(mount, { maxLength: 4 }), (entries, mounts) => {
        const tree = createFolders();
        for (const { place: name, kind } of entries) make(path.join(tree.ws, name), kind);
        const from = (name: string): string => path.join(tree.ws, name);
        const plan = planMounts([
          mountOf(tree.ws, 'write'),
          ...mounts.map(({ place: name, access, moved }) =>
            mountOf(moved ? tree.outside : from(name), access, from(name)),
          ),
        ]);
        if (plan.kind === 'planned') {
          planned++;
          for (const step of plan.steps) {
            for (let part = step.to; isWithin(tree.ws, part); part = path.dirname(part))
              expect(lstatSync(part).isSymbolicLink()).toBe(false);
          }
        }
        tree.remove();
      }),
      { numRuns: 60 },
    );
    expect(planned).toBeGreaterThan(5);
  });
});

/** As far as what was made before allows. */
function make(file: string, kind: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    if (kind === 'folder') mkdirSync(file, { recursive: true });
    else if (kind === 'file') writeFileSync(file, '');
    else symlinkSync('/etc', file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}
