import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Value } from './expression.ts';
import type { Runner } from './runner.ts';
import { ROOT } from './workflow-file.ts';

export interface TestRunner extends Runner {
  root: string;
  /** What was uploaded, by the artifact's name: the names of its files. */
  artifacts: Map<string, string[]>;
  git(...args: string[]): string;
  /** Sets the event that the job is for. */
  trigger(name: string, payload: Record<string, Value>): void;
  remove(): void;
}

/** A runner with the demo repository checked out, a recorded agent beside it, and a store for artifacts. */
export function createRunner({
  uid = null,
  files = {},
}: {
  uid?: number | null;
  files?: Readonly<Record<string, string>>;
} = {}): TestRunner {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-runner-')));
  const [workspace, temp, home] = ['work', 'temp', 'home'].map((name) => join(root, name));
  if (workspace === undefined || temp === undefined || home === undefined) throw new Error('no folders');
  for (const dir of [workspace, temp, home]) mkdirSync(dir);
  cpSync(join(ROOT, 'examples/demo/input'), workspace, { recursive: true });
  cpSync(join(ROOT, 'examples/demo/belay.yml'), join(workspace, 'belay.yml'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(workspace, path), text);
  const artifacts = new Map<string, string[]>();
  const runner: TestRunner = {
    root,
    workspace,
    temp,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', CI: 'true', GITHUB_ACTIONS: 'true' },
    path: [],
    github: { sha: '', repository: 'octo/demo', ref_name: 'main', event_name: 'push', event: {} },
    uid,
    actions: {
      'actions/upload-artifact': ({ with: { name = '', path = '' } }) => {
        const folder = join(root, 'artifacts', name);
        mkdirSync(folder, { recursive: true });
        const paths = path.split('\n').filter((one) => one !== '');
        for (const one of paths) cpSync(one, join(folder, basename(one)), { recursive: true });
        artifacts.set(
          name,
          paths.map((one) => basename(one)),
        );
        return {};
      },
    },
    artifacts,
    git: (...args) =>
      execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...args], {
        cwd: workspace,
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_PARAMETERS: "'safe.directory=*'",
        },
      }).trim(),
    trigger(name, payload) {
      const file = join(root, 'event.json');
      writeFileSync(file, JSON.stringify(payload));
      runner.github = { ...runner.github, event_name: name, event: payload };
      Object.assign(runner.env, {
        GITHUB_EVENT_NAME: name,
        GITHUB_EVENT_PATH: file,
        GITHUB_SHA: runner.git('rev-parse', 'HEAD'),
        GITHUB_REPOSITORY: 'octo/demo',
      });
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  runner.git('init', '--quiet', '--initial-branch=main', '--template=');
  runner.git('add', '--all', '--force');
  runner.git('commit', '--quiet', '--message', 'Split a bill between people');
  runner.trigger('push', { repository: { full_name: 'octo/demo' } });
  if (uid !== null) {
    chmodSync(root, 0o755);
    execFileSync('chown', ['-R', `${uid}:${uid}`, root]);
  }
  return runner;
}
