// Lays out one of the examples as a fresh git repository, and runs belay on it with a recorded agent.
//   node scripts/example.mjs SLUG [right|wrong|cheat] [--keep]

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpOrExit } from './set-up.mjs';

export const checkout = fileURLToPath(new URL('..', import.meta.url));
export const CASSETTES = ['right', 'wrong', 'cheat'];

/** The examples with a package from the registry, by folder name. */
export async function listExamples() {
  const names = await readdir(join(checkout, 'examples'), { withFileTypes: true });
  return names
    .filter(({ name }) => existsSync(join(checkout, 'examples', name, 'source.json')))
    .map(({ name }) => name);
}

/**
 * Makes `dir` a git repository with the defective package, the example's judge and its policy as its first commit.
 * The package comes by `npm pack` and has to have the digest in `source.json`.
 */
export async function layOut(slug, dir) {
  const example = join(checkout, 'examples', slug);
  const source = JSON.parse(await readFile(join(example, 'source.json'), 'utf8'));
  const packed = `${dir}.pack`;
  await mkdir(packed, { recursive: true });
  await mkdir(dir, { recursive: true });
  succeed(['npm', 'pack', `${source.name}@${source.version}`, '--silent', '--ignore-scripts'], packed);
  const [file] = await readdir(packed);
  const archive = join(packed, file ?? '');
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (integrity !== source.integrity)
    throw new Error(`${source.name}@${source.version} is ${integrity}, not ${source.integrity}`);
  succeed(['tar', '-xzf', archive, '-C', dir, '--strip-components=1'], packed);
  await rm(packed, { recursive: true });
  await cp(join(example, 'check'), join(dir, 'check'), { recursive: true });
  await cp(join(example, 'belay.yml'), join(dir, 'belay.yml'));
  commitAll(dir, `${source.name} ${source.version}`);
  return dir;
}

/** Makes `dir` a repository with one commit. Takes nothing from the user's git configuration. */
export function commitAll(dir, message) {
  const settings = {
    'user.name': 'Example',
    'user.email': 'example@example.invalid',
    'commit.gpgsign': 'false',
    'core.hooksPath': '/dev/null',
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  succeed(['git', 'init', '--quiet', '--initial-branch=main', '--template='], dir);
  succeed(['git', ...options, 'add', '--all', '--force'], dir);
  succeed(['git', ...options, 'commit', '--quiet', '--message', message], dir);
}

/** The command line of a run: the built CLI, the example's goal, a recorded agent. */
export function runArguments(slug, cassette, dir) {
  const example = join(checkout, 'examples', slug);
  const files = ['--goal-file', join(example, 'goal.md'), '--replay', join(example, `${cassette}.jsonl`)];
  return [join(checkout, 'dist/cli.js'), 'run', ...files, '--workspace', dir];
}

function succeed([command, ...args], cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}\n${stdout}${stderr}`);
}

async function main(args) {
  const keep = args.includes('--keep');
  const [slug, cassette = 'right'] = args.filter((arg) => arg !== '--keep');
  const slugs = await listExamples();
  if (!slugs.includes(slug) || !CASSETTES.includes(cassette)) {
    console.error(`usage: node scripts/example.mjs ${slugs.join('|')} [${CASSETTES.join('|')}] [--keep]`);
    return 2;
  }
  setUpOrExit();
  const folder = await mkdtemp(join(tmpdir(), 'belay-example-'));
  const dir = await layOut(slug, join(folder, slug));
  const state = { XDG_STATE_HOME: join(folder, 'state') };
  const run = [...runArguments(slug, cassette, dir), '--format', 'text'];
  const { status } = spawnSync(process.execPath, run, { stdio: 'inherit', env: { ...process.env, ...state } });
  if (keep) console.error(`kept: ${dir}`);
  else await rm(folder, { recursive: true });
  return status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
