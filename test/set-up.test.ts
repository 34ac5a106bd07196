import { chmod, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { USERS } from './users.ts';

const script = fileURLToPath(new URL('../scripts/set-up.mjs', import.meta.url));
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-set-up-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Sets up a checkout in a fresh process; what it says, and the sentence it ends with. */
async function setUp(
  root: string,
  env: Record<string, string> = {},
  uid?: number,
): Promise<{ said: string[]; problem: string | null }> {
  const program = `import(process.argv[2]).then(({ setUp }) => console.log(JSON.stringify(setUp(process.argv[1]))))`;
  const { stdout, stderr } = await execa(process.execPath, ['-e', program, root, script], {
    env,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  return { said: stderr.split('\n').filter((line) => line !== ''), problem: JSON.parse(stdout) };
}

async function makeCheckout(): Promise<string> {
  const root = join(folder, 'checkout');
  const manifest = { name: 'thing', version: '1.0.0', dependencies: { local: 'file:local' } };
  const local = { name: 'local', version: '1.0.0' };
  const packages = {
    '': manifest,
    local: { version: '1.0.0' },
    'node_modules/local': { resolved: 'local', link: true },
  };
  const lock = { ...manifest, lockfileVersion: 3, requires: true, packages };
  for (const path of ['src', 'scripts', 'local']) await mkdir(join(root, path), { recursive: true });
  await writeFile(join(root, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(root, 'package-lock.json'), JSON.stringify(lock));
  await writeFile(join(root, 'local/package.json'), JSON.stringify(local));
  await writeFile(join(root, 'src/cli.js'), '');
  const copy =
    "import fs from 'node:fs'; fs.mkdirSync('dist', { recursive: true }); fs.writeFileSync('dist/cli.js', '');";
  await writeFile(join(root, 'scripts/build.mjs'), copy);
  return root;
}

/** A PATH with what is needed apart from bubblewrap. */
async function makeBin(): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const name of ['git', 'bash', 'perl']) await symlink((await execa('which', [name])).stdout, join(bin, name));
  return bin;
}

describe('set-up', () => {
  it('installs and builds what is missing, then has nothing to do', async () => {
    const root = await makeCheckout();
    const both = ['set-up: installing packages (npm ci)', 'set-up: building (node scripts/build.mjs)'];
    expect(await setUp(root)).toEqual({ said: both, problem: null });
    expect(await setUp(root)).toEqual({ said: [], problem: null });
  });

  it('builds again when a source is newer than the build', async () => {
    const root = await makeCheckout();
    await setUp(root);
    const later = new Date(Date.now() + 60_000);
    await utimes(join(root, 'src/cli.js'), later, later);
    expect(await setUp(root)).toEqual({ said: ['set-up: building (node scripts/build.mjs)'], problem: null });
  });

  it('says which step failed, with its output', async () => {
    const root = await makeCheckout();
    await writeFile(join(root, 'scripts/build.mjs'), "console.error('no such thing'); process.exit(3);");
    const { problem } = await setUp(root);
    expect(problem).toMatch(
      /^no such thing\nset-up failed: `.* scripts\/build\.mjs --no-types` ended with exit code 3\.$/,
    );
  });

  it.skipIf(process.platform !== 'linux')(
    'names the package when bubblewrap is missing and cannot be installed',
    async () => {
      const root = await makeCheckout();
      await setUp(root);
      const bin = await makeBin();
      const { problem } = await setUp(root, { PATH: bin });
      expect(problem).toBe("belay's sandbox needs bubblewrap: install it from your distribution and start again.");
    },
  );

  const stranger = USERS[process.getuid?.() === 0 ? 1 : 0];
  it.skipIf(process.platform !== 'linux' || !stranger.works)(
    'tells a user who may not install what to type, of all that is missing, and installs nothing',
    async () => {
      const root = await makeCheckout();
      await setUp(root);
      const bin = await makeBin();
      await rm(join(bin, 'perl'));
      const log = join(folder, 'log');
      await writeFile(join(bin, 'apt-get'), `#!/bin/sh\n[ "$1" = --version ] || echo "$*" >> ${log}\n`, {
        mode: 0o755,
      });
      await writeFile(join(bin, 'sudo'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      await chmod(folder, 0o777);
      const { said, problem } = await setUp(root, { PATH: bin, HOME: '/nonexistent' }, stranger.uid);
      expect({ said, problem }).toEqual({
        said: [],
        problem:
          "belay's sandbox needs bubblewrap and perl: run `sudo apt-get install -y --no-install-recommends bubblewrap perl` and start again.",
      });
      await expect(linesOf(log)).rejects.toThrow('ENOENT');
    },
  );

  it.skipIf(process.platform !== 'linux')('says that git is missing before it installs anything', async () => {
    const root = await makeCheckout();
    const bin = await makeBin();
    await rm(join(bin, 'git'));
    expect(await setUp(root, { PATH: bin })).toEqual({
      said: [],
      problem: 'belay needs git 2.38 or later: install it and start again.',
    });
  });

  it.skipIf(process.platform !== 'linux')(
    'refreshes the package lists once when the first installation fails',
    async () => {
      const root = await makeCheckout();
      await setUp(root);
      const bin = await makeBin();
      const log = join(folder, 'log');
      const apt = `#!/bin/sh\necho "$*" >> ${log}\ncase "$1" in install) [ -f ${log}.updated ] ;; update) : > ${log}.updated ;; esac\n`;
      await writeFile(join(bin, 'apt-get'), apt, { mode: 0o755 });
      await writeFile(join(bin, 'sudo'), '#!/bin/sh\nshift\nexec "$@"\n', { mode: 0o755 });
      await symlink('/bin/true', join(bin, 'true'));
      const { said, problem } = await setUp(root, { PATH: bin });
      expect(problem).toBeNull();
      expect(said).toHaveLength(1);
      expect(await linesOf(log)).toEqual([
        '--version',
        'install -y --no-install-recommends bubblewrap',
        'update',
        'install -y --no-install-recommends bubblewrap',
      ]);
    },
  );
});

async function linesOf(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8')).trimEnd().split('\n');
}
