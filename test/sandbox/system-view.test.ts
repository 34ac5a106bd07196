import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSystemView } from '../../src/sandbox/system-view.ts';
import { createFolders, type Folders } from './fixture.ts';

const DEFAULT = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

describe.skipIf(process.platform !== 'linux')('the view of the system', () => {
  let folders: Folders;
  let home: string;
  beforeEach(() => {
    folders = createFolders();
    home = path.join(folders.root, 'user');
    mkdirSync(home);
  });
  afterEach(() => folders.remove());
  const install = (prefix: string): string => {
    folders.write(path.join(prefix, 'lib/node_modules/npm/package.json'), '{}');
    const node = folders.write(path.join(prefix, 'bin/node'), '');
    chmodSync(node, 0o755);
    return node;
  };
  const view = (searchPath: string[], nodePath: string, readable: string[] = []) =>
    loadSystemView({ env: { PATH: searchPath.join(':'), HOME: home }, readable, nodePath });
  const same = (file: string) => ({ from: file, to: file });

  it('keeps the order of PATH, and leaves out what is not visible, not there or not absolute', () => {
    const node = install(path.join(folders.root, 'n'));
    const { path: searched } = view(
      ['/usr/bin', `${home}/bin`, '/nowhere', '.', '', '/usr/local/bin', '/usr/bin'],
      node,
    );
    expect(searched.endsWith('/usr/bin:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin:/bin')).toBe(true);
    expect(searched).not.toContain(home);
  });

  it('shows the whole installation of the Node that PATH names, at its place in PATH, and no more of that home', () => {
    const node = install(path.join(home, '.nvm/versions/node/v1'));
    const { extras, path: searched } = view([path.dirname(node), '/usr/bin'], process.execPath);
    expect(extras).toEqual([same(path.join(home, '.nvm/versions/node/v1'))]);
    expect(searched).toBe(
      [path.dirname(node), '/usr/bin', ...DEFAULT.split(':').filter((entry) => entry !== '/usr/bin')].join(':'),
    );
  });

  it('takes the Node that belay runs on for the shim of a version manager', () => {
    const node = install(path.join(home, 'versions/1'));
    const shim = folders.write(path.join(home, 'shims/volta-shim'), '');
    chmodSync(shim, 0o755);
    symlinkSync(shim, path.join(home, 'shims/node'));
    const { extras, path: searched } = view([path.join(home, 'shims'), '/usr/bin'], node);
    expect(extras).toEqual([same(path.join(home, 'versions/1'))]);
    expect(searched.split(':')[0]).toBe(path.dirname(node));
  });

  it('shows only the binary where its folder is the home itself', () => {
    const node = install(home);
    expect(view([path.dirname(node)], node).extras).toEqual([same(node)]);
  });

  it('shows what the policy makes readable, by both names of a link, and takes its programs into PATH', () => {
    folders.write(path.join(home, 'real/bin/tool'));
    symlinkSync(path.join(home, 'real'), path.join(home, '.cargo'));
    const { extras, path: searched } = view(['/usr/bin', path.join(home, '.cargo/bin')], '/usr/bin/env', [
      '~/.cargo',
      '~/.missing',
    ]);
    expect(extras).toEqual([
      same(path.join(home, 'real')),
      { from: path.join(home, 'real'), to: path.join(home, '.cargo') },
    ]);
    expect(searched.startsWith(`/usr/bin:${path.join(home, '.cargo/bin')}:`)).toBe(true);
  });

  it('shows the system by a list of what may be seen', () => {
    const { folders: shown, links } = view([], '/usr/bin/env');
    const all = [...shown, ...links.map(([, link]) => link)];
    const allowed = [
      '/usr',
      '/bin',
      '/sbin',
      '/lib',
      '/lib32',
      '/lib64',
      '/libx32',
      '/etc',
      '/opt',
      '/nix',
      '/sys/devices/system/cpu',
    ];
    expect(all.filter((folder) => !allowed.includes(folder))).toEqual([]);
    expect(all).toEqual(expect.arrayContaining(['/usr', '/etc', '/bin']));
  });
});
