import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_LINUX } from '../sandbox/fixture.ts';
import { BAITS } from './bait-attempts.ts';
import { createStand, runOn, type Stand } from './stand.ts';

const springs = (stand: Stand, id: string): string => path.join(stand.bench.root, 'outside', `sprung-${id}`);
const scriptOf = (stand: Stand, { id, script }: (typeof BAITS)[number]): string =>
  `export SPRUNG='${springs(stand, id)}'; mkdir -p 'bait/${id}' && cd 'bait/${id}' && { ${script}\n} && rm -f "$SPRUNG" && echo laid`;

describe.skipIf(!IS_LINUX)('repositories that a command leaves as a bait for git outside', () => {
  let stand: Stand;
  beforeEach(async () => {
    stand = await createStand(undefined);
  });
  afterEach(() => stand.remove());

  it('run nothing when belay looks at them, and would in any other git', async () => {
    const { bench } = stand;
    bench.write(
      'belay.yml',
      JSON.stringify({
        version: 1,
        limits: { tool_calls: 100 },
        workspace: { on_failure: 'keep' },
        verify: { checks: [{ name: 'green', run: 'true' }], clean_room: { carry: ['bait'] } },
      }),
    );
    const shell = (command: string) => ({ name: 'shell', input: { command } });
    const answers = [
      ...BAITS.map((bait) => ({ tool_calls: [shell(scriptOf(stand, bait))] })),
      {
        tool_calls: [
          { name: 'search', input: { pattern: 'a', path: 'bait' } },
          { name: 'list_files', input: { pattern: '**' } },
        ],
      },
      { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'laid' } }] },
    ];
    bench.write('../io/cassette.jsonl', answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
    const { outputs } = await runOn(stand, undefined, [
      'run',
      'lay them',
      '--policy',
      'belay.yml',
      '--format',
      'jsonl',
      '--replay',
      `${bench.io}/cassette.jsonl`,
    ]);
    const laid = BAITS.map((bait) => (outputs.get(scriptOf(stand, bait)) ?? '').split('\n').includes('laid'));
    expect(laid).toEqual(BAITS.map(() => true));
    expect(BAITS.map(({ id }) => existsSync(springs(stand, id)))).toEqual(BAITS.map(() => false));

    for (const { id, spring } of BAITS) for (const args of spring) plainGit(path.join(bench.ws, 'bait', id), args);
    expect(BAITS.filter(({ id }) => !existsSync(springs(stand, id))).map(({ id }) => id)).toEqual([]);
  });
});

/** As somebody would type it, whoever owns the folder; a bait may make it fail. */
function plainGit(cwd: string, args: readonly string[]): void {
  try {
    execFileSync('git', ['-c', 'safe.directory=*', ...args], {
      cwd,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: cwd },
    });
  } catch (error) {
    if (!(error instanceof Error && 'status' in error)) throw error;
  }
}
