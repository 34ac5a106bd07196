import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runCli, treeOf } from '../scenario.ts';
import type { Call } from './idempotent-agent.ts';
import { expectWholeLog, inParallel, runHooked, type Site, threadOf, withSite } from './site.ts';

const file = fc.constantFrom('a.txt', 'b.txt', 'sub/c.txt');
/** What an agent may do, and may do again after it was cut off. */
const deed = fc.oneof(
  fc.tuple(file, fc.constantFrom('x', 'y')).map(([path, line]) => ({
    name: 'shell',
    input: { command: `mkdir -p sub; grep -qx ${line} ${path} 2>/dev/null || echo ${line} >> ${path}` },
  })),
  fc
    .tuple(file, fc.constantFrom('one\n', 'two\n'))
    .map(([path, content]) => ({ name: 'write_file', input: { path, content } })),
  file.map((path) => ({ name: 'shell', input: { command: `rm -f ${path}; exit 3` } })),
  file.map((path) => ({ name: 'read_file', input: { path } })),
);
const script = fc
  .array(fc.array(deed, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 })
  .map((steps) => steps.map((calls, i): Call[] => calls.map((call, j) => ({ key: `${i}-${j}`, ...call }))));
const policy = { limits: { repeats: 50, attempts: 1 }, verify: { checks: [{ name: 'b', run: '! test -e b.txt' }] } };

/** What a thread came to, by its last result. */
async function endOf({ bench }: Site): Promise<object> {
  const id = threadOf(bench) ?? '';
  const events = await runCli(['thread', 'show', id, '--json'], bench);
  const { runs } = JSON.parse(events.stdout);
  const diff = await runCli(['thread', 'diff', id], bench);
  await expectWholeLog(bench, id);
  // It names the port of the agent.
  const { 'belay.yml': _, ...tree } = treeOf(bench.ws);
  return { outcome: runs.at(-1).outcome, tree, diff: diff.stdout };
}

it('whatever the agent does and wherever it is killed, twice, a thread comes to what it comes to without', async () => {
  const cases = fc.sample(fc.tuple(script, fc.integer({ min: 8, max: 45 }), fc.integer({ min: 4, max: 30 })), {
    seed: 4711,
    numRuns: 8,
  });
  let killed = 0;
  await inParallel(cases, async ([steps, first, second]) => {
    let straight: object = {};
    await withSite({ steps, policy }, async (site) => {
      await runHooked(site, ['run', 'go on']);
      straight = await endOf(site);
    });
    await withSite({ steps, policy }, async (site) => {
      const kill = (args: string[], at: number) => runHooked(site, args, { env: { KILL_AT: String(at) } });
      if ((await kill(['run', 'go on'], first)).signal === 'SIGKILL') killed++;
      const id = threadOf(site.bench);
      if (id === null) return;
      if ((await kill(['resume', id], second)).signal === 'SIGKILL') killed++;
      await runCli(['resume', id], site.bench);
      expect({ steps, first, second, end: await endOf(site) }).toEqual({ steps, first, second, end: straight });
    });
  });
  expect(killed).toBeGreaterThan(cases.length);
}, 300_000);
