import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli, treeOf } from '../scenario.ts';
import { expectRanOnce, expectWholeLog, FINAL, inParallel, runHooked, type Site, threadOf, withSite } from './site.ts';

const policy = { verify: { checks: [] } };
const EFFECTS = ['before command', 'in command', 'after command', 'before write', 'after write'];
const POINT_KINDS = EFFECTS.join();

/** The rest of a killed run is as if it had not been killed. */
async function expectResumes(site: Site, at: string): Promise<void> {
  const { bench, agent } = site;
  agent.onRequest = null;
  const id = threadOf(bench);
  if (id === null) return;
  const end = await runCli(['resume', id], bench);
  const finished = end.stdout.includes('there is nothing to resume');
  if (!finished)
    expect({ at, code: end.code, outcome: end.result?.outcome }).toEqual({ at, code: 0, outcome: 'unchecked' });
  expect({ at, tree: treeOf(bench.ws) }).toMatchObject({ at, tree: FINAL });
  expectRanOnce(site, id, at);
  await expectWholeLog(bench, id);
}

it('a run that is killed around any command or file write goes on to the same end', async () => {
  let points: string[] = [];
  await withSite({ policy }, async (site) => {
    const log = join(site.bench.io, 'points');
    const whole = await runHooked(site, ['run', 'go on'], { env: { POINT_LOG: log, POINT_KINDS } });
    expect(whole.signal).toBeNull();
    expect(treeOf(site.bench.ws)).toMatchObject({ ...FINAL, 'ran.txt': 'one\ntwo\nthree\n' });
    points = readFileSync(log, 'utf8').trimEnd().split('\n');
  });
  // What the sweep is about is there to be hit.
  for (const kind of EFFECTS) expect(points).toContain(kind);
  await inParallel(
    points.map((kind, i) => ({ at: i + 1, kind })),
    ({ at, kind }) =>
      withSite({ policy }, async (site) => {
        const { signal } = await runHooked(site, ['run', 'go on'], { env: { KILL_AT: String(at), POINT_KINDS } });
        expect(signal).toBe('SIGKILL');
        await expectResumes(site, `${at} (${kind})`);
      }),
  );
}, 600_000);

it('a run that is killed around any request to the model goes on to the same end', async () => {
  const kills = [1, 2, 3, 4].flatMap((n) => (['before', 'after'] as const).map((when) => ({ n, when })));
  await inParallel(kills, ({ n, when }) =>
    withSite({ policy }, async (site) => {
      await runHooked(site, ['run', 'go on'], { killAt: { n, when } });
      await expectResumes(site, `request ${n}, ${when}`);
    }),
  );
}, 300_000);
