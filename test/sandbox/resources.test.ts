import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';
import { HAS_LANDLOCK, IS_LINUX, processesWith, sleepMark } from './fixture.ts';

const MARK = sleepMark();
/** Each takes more of the machine than the policy lets it, until it is ended: [what, command, words of the reason]. */
const HOGS = [
  [
    'processes',
    `perl -e 'for (;;) { defined(my $pid = fork) or select(undef, undef, undef, 0.1); select(undef, undef, undef, 0.02) }' ${MARK}`,
    'sandbox.processes',
  ],
  ['memory', `perl -e '$x = "x" x (400 << 20); sleep 60' ${MARK}`, 'sandbox.memory'],
  ['output', 'yes', 'sandbox.output'],
  ['a sparse file', 'truncate -s 10G sparse', 'sandbox.file_size'],
  ['the disk', 'for i in $(seq 16); do head -c 4M /dev/zero > "fill-$i"; done; sync; sleep 60', 'sandbox.disk'],
] as const;
/** Memory in bubblewrap, half of `sandbox.memory` at most; a folder of the disk in Landlock. */
const TEMPORARY = 'for i in $(seq 20); do head -c 7M /dev/zero > "$TMPDIR/fill-$i" || exit 9; done; sleep 60';
const SANDBOX = { memory: '128MiB', processes: 64, file_size: '8MiB', disk: '24MiB', output: '16MiB' };

const TIERS = [
  { tier: 'bubblewrap', works: IS_LINUX },
  { tier: 'landlock', works: HAS_LANDLOCK },
] as const;

const PLACES = TIERS.flatMap((tier) => USERS.map((user) => ({ ...tier, ...user, works: tier.works && user.works })));

for (const { tier, who, uid, works } of PLACES) {
  describe.skipIf(!works)(`commands that take too much of the machine, in ${tier}, with belay run by ${who}`, () => {
    let bench: Bench;
    beforeEach(() => {
      bench = createBench({ 'file.txt': 'text\n' }, uid);
      commitAll(bench);
    });
    afterEach(() => bench.remove());

    it('end as failed items that name the bound, and the run goes on', async () => {
      const policy = { version: 1, sandbox: { ...SANDBOX, require: tier }, verify: { checks: [] } };
      bench.write('../io/policy.json', JSON.stringify(policy));
      const shell = (command: string) => ({ tool_calls: [{ name: 'shell', input: { command } }] });
      const answers = [
        ...HOGS.map(([, command]) => shell(command)),
        shell(TEMPORARY),
        shell('rm -f fill-* sparse; echo well > control.txt'),
        { text: 'done' },
      ];
      bench.write('../io/cassette.jsonl', answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
      const { events, result } = await runCli(
        [
          'run',
          'take it all',
          '--policy',
          `${bench.io}/policy.json`,
          '--replay',
          `${bench.io}/cassette.jsonl`,
          '--format',
          'jsonl',
        ],
        bench,
      );
      const items = events.flatMap((event) =>
        event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item] : [],
      );
      const seen = items.map(({ command, status, reason }) => ({ command, status, reason }));
      const filler = seen.splice(HOGS.length, 1);
      if (tier === 'bubblewrap') {
        expect(items[HOGS.length]).toMatchObject({ status: 'failed', exit_code: 9 });
        expect(items[HOGS.length]?.aggregated_output).toContain('No space left on device');
      } else expect(filler).toMatchObject([{ status: 'failed', reason: expect.stringContaining('sandbox.disk') }]);
      expect(seen).toEqual([
        ...HOGS.map(([, command, words]) => ({ command, status: 'failed', reason: expect.stringContaining(words) })),
        { command: expect.stringContaining('control.txt'), status: 'completed', reason: undefined },
      ]);
      expect(result).toMatchObject({ outcome: 'unchecked', sandbox: { tier } });
      expect(readdirSync(bench.ws).sort()).toEqual(['.git', 'control.txt', 'file.txt']);
      expect(statSync(path.join(bench.ws, 'control.txt')).size).toBe(5);
      expect(processesWith(MARK)).toEqual([]);
    });
  });
}
