import { chownSync } from 'node:fs';
import path from 'node:path';
import type { Result } from '../../src/events/index.ts';
import type { Attempt } from './attempt.ts';
import { runOn, runPlainly, type Stand } from './stand.ts';

export interface Trial {
  /** By which command of belay the deeds are tried. */
  by: 'run' | 'verify';
  /** The policy's `sandbox`: which fence, or none. */
  sandbox: Readonly<Record<string, unknown>>;
  uid: number | undefined;
  attempts: readonly Attempt[];
}

export interface Trials {
  result: Result;
  /** Ids of attempts whose script was not run to its end. */
  untried: string[];
  /** Ids of attempts that worked. */
  breached: string[];
}

/** Tools calls of one answer of the model. */
const BATCH = 25;

/** Ids of the attempts that work in a plain shell. */
export function tryPlainly(stand: Stand, uid: number | undefined, attempts: readonly Attempt[]): string[] {
  return attempts
    .filter(({ script, changes }) => {
      const before = changes === undefined ? null : stand.look(changes);
      const said = runPlainly(stand, uid, script);
      return changes === undefined ? said.split('\n').includes('breached') : before !== stand.look(changes);
    })
    .map(({ id }) => id);
}

/** Tries every deed in one run, each as a command of its own, and judges what came of it. */
export async function tryAttempts(stand: Stand, { by, sandbox, uid, attempts }: Trial): Promise<Trials> {
  const { bench, names } = stand;
  const scripts = new Map(
    attempts.map((attempt) => [attempt.id, `# ${attempt.id}\n(\n${attempt.script}\n) && echo did\necho tried`]),
  );
  const policy = {
    version: 1,
    sandbox: { ...sandbox, env: { pass: [...Object.keys(names), 'HARNESS'] } },
    workspace: {
      protect: ['/guard-*/**', '/kept/deep/kept.txt', '/kept/other/kept.txt'],
      hide: ['.env', '.env.*', 'private/**', '/hidden-away/**'],
      on_failure: 'keep',
    },
    limits: { turns: 40, tool_calls: 500, wall_time: '10m', command_time: '20s', changed_files: 1000 },
    verify: {
      checks:
        by === 'run'
          ? []
          : attempts.map(({ id }) => ({
              name: id,
              run: scripts.get(id),
              required: false,
              timeout: '20s',
              when: 'attempt',
            })),
      clean_room: { freeze: ['node_modules'] },
      flaky_retries: 0,
    },
  };
  bench.write('belay.yml', JSON.stringify(policy));
  if (uid !== undefined) chownSync(path.join(bench.ws, 'belay.yml'), uid, uid);
  const before = new Map(
    attempts.flatMap(({ changes }) => (changes === undefined ? [] : [[changes, stand.look(changes)]])),
  );
  const calls = attempts.map(({ id }) => ({ name: 'shell', input: { command: scripts.get(id) } }));
  const answers = Array.from({ length: Math.ceil(calls.length / BATCH) }, (_, index) => ({
    tool_calls: calls.slice(index * BATCH, (index + 1) * BATCH),
  }));
  const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'tried' } }] };
  bench.write(
    path.join('..', 'io', 'cassette.jsonl'),
    [...answers, finish].map((answer) => `${JSON.stringify(answer)}\n`).join(''),
  );
  const io = (name: string): string => path.join(bench.io, name);
  const args = ['--policy', 'belay.yml', '--format', 'jsonl'];
  const { outputs, result } = await runOn(
    stand,
    uid,
    by === 'run' ? ['run', 'try it', ...args, '--replay', io('cassette.jsonl')] : ['verify', ...args],
  );
  const linesOf = ({ id }: Attempt): string[] => (outputs.get(scripts.get(id) ?? '') ?? '').split('\n');
  const works = (attempt: Attempt): boolean => {
    const lines = linesOf(attempt);
    if (attempt.changes === undefined) return lines.includes('breached');
    return (
      before.get(attempt.changes) !== stand.look(attempt.changes) &&
      (lines.includes('did') || sandbox['mode'] !== 'off')
    );
  };
  return {
    result,
    untried: attempts.filter((attempt) => !linesOf(attempt).includes('tried')).map(({ id }) => id),
    breached: attempts.filter(works).map(({ id }) => id),
  };
}
