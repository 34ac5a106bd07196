import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Value } from './expression.ts';
import type { Runner } from './runner.ts';
import { ROOT } from './workflow-file.ts';

/** A repository host of the test's own: a bare repository, a store for artifacts, and a `gh` that writes down what it is asked. */
export interface Forge {
  root: string;
  /** Commit of the demo on main. */
  base: string;
  /** Files beside the demo's that the workflow needs in the repository. */
  newRunner(env?: Record<string, string>): Runner;
  event(name: string, payload: Record<string, Value>): void;
  git(...args: string[]): string;
  /** What `gh` was asked, a call a line, and the bodies of pull requests. */
  ghCalls(): string[];
  bodies(): string[];
  remove(): void;
}

const GH = `#!/usr/bin/env bash
printf '%s\\n' "$*" >>"$FORGE/gh.log"
while [ $# -gt 0 ]; do
  if [ "$1" = --body-file ]; then cat "$2" >"$FORGE/body-$(wc -l <"$FORGE/gh.log").md"; fi
  if [ "$1" = --jq ]; then echo "\${GH_LEVEL:-write}"; fi
  shift
done
`;

export function createForge(files: Readonly<Record<string, string>> = {}): Forge {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-forge-')));
  const [seed, bare, bin, artifacts] = ['seed', 'origin.git', 'bin', 'artifacts'].map((name) => join(root, name));
  if (seed === undefined || bare === undefined || bin === undefined || artifacts === undefined)
    throw new Error('no folders');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gh'), GH, { mode: 0o755 });
  const env = { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1', LANG: 'C.UTF-8' };
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...args], {
      cwd,
      env,
      encoding: 'utf8',
    }).trim();
  cpSync(join(ROOT, 'examples/demo/input'), seed, { recursive: true });
  cpSync(join(ROOT, 'examples/demo/belay.yml'), join(seed, 'belay.yml'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(seed, path), text);
  gitIn(seed, 'init', '--quiet', '--initial-branch=main', '--template=');
  gitIn(seed, 'add', '--all', '--force');
  gitIn(seed, 'commit', '--quiet', '--message', 'Split a bill between people');
  gitIn(root, 'clone', '--quiet', '--bare', seed, bare);
  const base = gitIn(seed, 'rev-parse', 'HEAD');
  let github: Record<string, Value> = { sha: base, repository: 'octo/demo', token: '', run_id: '7', run_attempt: '1' };
  let machines = 0;
  let event = { name: 'push', file: '' };

  const actions: Runner['actions'] = {
    'actions/checkout': ({ runner, with: { ref = '' } }) => {
      gitIn(root, 'clone', '--quiet', bare, runner.workspace);
      gitIn(runner.workspace, 'checkout', '--quiet', '--detach', ref === '' ? base : ref);
      return {};
    },
    'actions/upload-artifact': ({ with: { name = '', path = '' } }) => {
      const folder = join(artifacts, name);
      mkdirSync(folder, { recursive: true });
      const paths = path.split('\n').filter((one) => one !== '');
      for (const one of paths)
        cpSync(one, paths.length === 1 ? folder : join(folder, basename(one)), { recursive: true });
      return {};
    },
    'actions/download-artifact': ({ with: { name = '', pattern = '', path = '' } }) => {
      const prefix = pattern.replace(/\*$/, '');
      const wanted = name === '' ? readdirSync(artifacts).filter((one) => one.startsWith(prefix)) : [name];
      for (const one of wanted) cpSync(join(artifacts, one), path, { recursive: true });
      return {};
    },
  };

  return {
    root,
    base,
    newRunner(more = {}) {
      const dir = join(root, `machine-${machines++}`);
      for (const name of ['temp', 'home']) mkdirSync(join(dir, name), { recursive: true });
      return {
        workspace: join(dir, 'work'),
        temp: join(dir, 'temp'),
        env: {
          ...env,
          ...more,
          HOME: join(dir, 'home'),
          PATH: `${bin}:${env.PATH}`,
          FORGE: root,
          CI: 'true',
          GITHUB_ACTIONS: 'true',
          GITHUB_EVENT_NAME: event.name,
          GITHUB_EVENT_PATH: event.file,
          GITHUB_SHA: base,
          GITHUB_REPOSITORY: 'octo/demo',
        },
        path: [],
        github,
        uid: null,
        actions,
      };
    },
    event(name, payload) {
      const whole = { repository: { full_name: 'octo/demo', default_branch: 'main' }, ...payload };
      event = { name, file: join(root, 'event.json') };
      writeFileSync(event.file, JSON.stringify(whole));
      github = { ...github, event_name: name, event: whole, triggering_actor: 'octocat' };
    },
    git: (...args) => gitIn(bare, ...args),
    ghCalls: () =>
      existsSync(join(root, 'gh.log')) ? readFileSync(join(root, 'gh.log'), 'utf8').trim().split('\n') : [],
    bodies: () =>
      readdirSync(root)
        .filter((name) => name.startsWith('body-'))
        .map((name) => readFileSync(join(root, name), 'utf8')),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
