import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureCarry, layCarry } from '../../src/workspace/index.ts';
import { createFolder, photograph, write } from './repository.ts';

describe('what the clean room carries', () => {
  it('is copied before the agent, and laid into a tree as it was', async () => {
    const [from, to, tree] = [await createFolder(), await createFolder(), await createFolder()];
    await write(from, {
      'node_modules/a/index.js': 'a',
      'node_modules/.bin/a': { link: '../a/index.js' },
      'node_modules/run': { run: '#!/bin/sh\n' },
      'sub/build/x': 'x',
      'sub/source': 'not carried',
      '-odd "name"\n': 'odd',
    });
    const paths = ['node_modules/', './sub/build', '-odd "name"\n', 'sub/build', 'missing'];
    expect(await captureCarry({ from, to, paths })).toEqual(['node_modules', 'sub/build', '-odd "name"\n']);
    await write(from, { 'node_modules/a/index.js': 'agent', 'sub/build/y': 'agent' });

    await write(tree, {
      'sub/source': 'from the patch',
      'sub/build': 'a file in its place',
      'node_modules/own': 'own',
    });
    await layCarry({ from: to, to: tree });
    expect(await photograph(tree)).toEqual({
      '-odd "name"\n': '644 odd',
      node_modules: 'folder',
      'node_modules/.bin': 'folder',
      'node_modules/.bin/a': 'link ../a/index.js',
      'node_modules/a': 'folder',
      'node_modules/a/index.js': '644 a',
      'node_modules/own': '644 own',
      'node_modules/run': '755 #!/bin/sh\n',
      sub: 'folder',
      'sub/build': 'folder',
      'sub/build/x': '644 x',
      'sub/source': '644 from the patch',
    });
  });

  it('neither reads nor writes through a link', async () => {
    const [from, to, tree, outside] = [
      await createFolder(),
      await createFolder(),
      await createFolder(),
      await createFolder(),
    ];
    await write(outside, { 'build/x': 'outside' });
    const kept = await photograph(outside);
    await symlink(outside, join(from, 'linked'));
    expect(await captureCarry({ from, to, paths: ['linked/build', 'linked'] })).toEqual(['linked']);
    expect(await photograph(to)).toEqual({ linked: `link ${outside}` });

    const real = await createFolder();
    await write(real, { 'linked/build/x': 'carried' });
    await symlink(outside, join(tree, 'linked'));
    await layCarry({ from: real, to: tree });
    expect(await photograph(outside)).toEqual(kept);
    expect(await photograph(tree)).toEqual({
      linked: 'folder',
      'linked/build': 'folder',
      'linked/build/x': '644 carried',
    });
  });

  it.each(['/etc', '..', 'a/../../b', '', './'])('refuses %j', async (path) => {
    const [from, to] = [await createFolder(), await createFolder()];
    await expect(captureCarry({ from, to, paths: [path] })).rejects.toMatchObject({ code: 'carry' });
  });
});
