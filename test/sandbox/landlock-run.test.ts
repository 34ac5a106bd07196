import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';
import { HAS_LANDLOCK } from './fixture.ts';

describe.skipIf(!HAS_LANDLOCK)('a run whose fence is Landlock', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = createBench({ 'check.sh': 'exit 1\n', '.gitignore': '.env\nnode_modules\n' });
  });
  afterEach(() => bench.remove());

  it('sets up, works, checks and proves the change in the clean room as any other, and names its tier', async () => {
    const policy = {
      version: 1,
      sandbox: { require: 'landlock' },
      setup: [{ run: 'mkdir node_modules && echo dep > node_modules/dep' }],
      verify: { checks: [{ name: 'check', run: 'cat node_modules/dep && sh check.sh', before: 'fail' }] },
    };
    bench.write('belay.yml', JSON.stringify(policy));
    commitAll(bench);
    bench.write('.env', 'hidden\n');
    const shell = (command: string) => ({ name: 'shell', input: { command } });
    const answers = [
      { tool_calls: [shell(`cd '${bench.ws}' && echo 'exit 0' > check.sh; ls -A`)] },
      {
        tool_calls: [
          { name: 'write_file', input: { path: 'new.txt', content: 'new\n' } },
          shell('cat new.txt; rm new.txt; echo data > kept.txt; echo "version: 1" > belay.yml'),
        ],
      },
      { text: 'done' },
    ];
    bench.write('../io/cassette.jsonl', answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
    const args = ['run', 'mend it', '--replay', `${bench.io}/cassette.jsonl`, '--format', 'jsonl'];
    const { events, result } = await runCli(args, bench);
    const outputs = events.flatMap((event) =>
      event.type === 'item.completed' && event.phase === 'agent' && event.item.type === 'command_execution'
        ? [event.item.aggregated_output]
        : [],
    );
    expect(outputs[0]).toBe('.gitignore\nbelay.yml\ncheck.sh\nnode_modules\n');
    expect(outputs[1]).toMatch(/^new\n\n\[belay: not kept, because it is protected or no file: ".*\/belay\.yml"\]\n$/);
    expect(result).toMatchObject({
      outcome: 'verified',
      sandbox: { tier: 'landlock', network: 'none', reason: expect.stringContaining('Landlock') },
    });
    expect(result?.changes.files.map(({ path, kind }) => [path, kind])).toEqual([
      ['check.sh', 'update'],
      ['kept.txt', 'add'],
    ]);
    expect(readdirSync(bench.ws).sort()).toEqual(
      ['.env', '.git', '.gitignore', 'belay.yml', 'check.sh', 'kept.txt', 'node_modules'].sort(),
    );
    expect(bench.read('belay.yml')).toBe(JSON.stringify(policy));
  });
});
