import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CliEnd, runCli, treeOf } from '../scenario.ts';
import type { Call } from './idempotent-agent.ts';
import {
  expectRanOnce,
  expectWholeLog,
  FINAL,
  inParallel,
  runHooked,
  type Site,
  STEPS,
  threadOf,
  withSite,
} from './site.ts';

/**
 * One run leaves, at every append and effect, a copy of all that a process killed there would leave on disk (with half of the line that was being
 * written), and each copy is gone on with: as telling as a kill at each point, at half the price. Real kills are in kill-sweep.test.ts.
 */
interface Sweep {
  steps: readonly (readonly Call[])[];
  policy: object;
  /** What the thread has to come to, from whatever state. */
  expectEnd(site: Site, end: CliEnd, at: string): void;
}

const KINDS = ['append', 'in command', 'after command', 'before write', 'after write'];
/** Of all that a state holds, but for the half of a line. */
function digestOf(state: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(state, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${path.slice(state.length)}\0`);
    if (entry.isSymbolicLink()) hash.update(readlinkSync(path));
    if (!entry.isFile()) continue;
    const content = readFileSync(path);
    hash.update(entry.name.endsWith('.jsonl') ? content.subarray(0, content.lastIndexOf('\n') + 1) : content);
  }
  return hash.digest('hex');
}

/** Copies of one run are shared out between two sites, each with the copies of a run of its own. */
const LANES = 2;

async function sweep({ steps, policy, expectEnd }: Sweep, begin: (site: Site) => Promise<string[]>): Promise<string[]> {
  let kinds: string[] = [];
  await inParallel([...Array(LANES).keys()], (lane) =>
    withSite({ steps, policy }, async (site) => {
      const { bench, agent } = site;
      const args = await begin(site);
      const states = join(bench.root, 'states');
      mkdirSync(states);
      const log = join(bench.io, 'points');
      const env = { POINT_LOG: log, POINT_KINDS: KINDS.join(), KEEP_STATES: states };
      const { code } = await runHooked(site, args, { env });
      agent.onRequest = null;
      const points = readFileSync(log, 'utf8').trimEnd().split('\n');
      expect({ code, points: points.length > 20 }).toMatchObject({ points: true });
      const digests = points.map((_, i) => digestOf(join(states, String(i + 1))));
      for (const [i, kind] of points.entries()) {
        if (i % LANES !== lane) continue;
        // The next one is the same with half a line more: what goes on from there goes on from here.
        if (digests[i] === digests[i + 1]) continue;
        for (const name of ['ws', 'state']) rmSync(join(bench.root, name), { recursive: true });
        execFileSync('cp', ['-a', ...['ws', 'state'].map((name) => join(states, String(i + 1), name)), bench.root]);
        const id = threadOf(bench);
        if (id === null) continue;
        const at = `${i + 1} (${kind})`;
        expectEnd(site, await runCli(['resume', id], bench), at);
        await expectWholeLog(bench, id);
      }
      kinds = points;
    }),
  );
  return kinds;
}

/** The agent is done too early once: the evidence sends it on. */
const EARLY: Call = { key: 'early', name: 'finish', input: { status: 'done', summary: 'done' } };
const [first = [], edit = [], ...rest] = STEPS;
const GREEN: Sweep = {
  steps: [[...first, ...edit], [EARLY], ...rest],
  policy: {
    setup: [{ run: 'mkdir -p made && echo made > made/setup.txt' }],
    verify: {
      checks: [{ name: 'noted', run: 'grep -qx noted note.txt && grep -qx third log.txt && test -e made/setup.txt' }],
    },
  },
  expectEnd: (site, end, at) => expectVerified(site, { end, at, files: { ...FINAL, 'made/setup.txt': 'made\n' } }),
};

function expectVerified(
  site: Site,
  { end, at, files }: { end: CliEnd; at: string; files: Record<string, string> },
): void {
  const isOver = end.stdout.includes('there is nothing to resume');
  if (!isOver)
    expect({ at, code: end.code, outcome: end.result?.outcome, stderr: end.stderr }).toMatchObject({
      code: 0,
      outcome: 'verified',
    });
  expect({ at, tree: treeOf(site.bench.ws) }).toMatchObject({ at, tree: files });
  expectRanOnce(site, threadOf(site.bench) ?? '', at);
}

it('a run goes on to the same verdict from every state that a kill leaves, from its setup to its clean room', async () => {
  const kinds = await sweep(GREEN, async () => ['run', 'go on']);
  for (const kind of KINDS) expect(kinds).toContain(kind);
}, 900_000);

it('a resumed run goes on to the same verdict from every state that a kill leaves', async () => {
  const short: Sweep = {
    steps: [first, ...rest],
    policy: { verify: { checks: [{ name: 'third', run: 'grep -qx third log.txt' }] } },
    expectEnd: (site, end, at) => expectVerified(site, { end, at, files: { 'log.txt': FINAL['log.txt'] } }),
  };
  await sweep(short, async (site) => {
    // Killed in the second of three commands, with a command behind it in the same answer; before them, the probe, the baseline and the first.
    const env = { KILL_AT: '4', POINT_KINDS: 'in command' };
    expect((await runHooked(site, ['run', 'go on'], { env })).signal).toBe('SIGKILL');
    return ['resume', threadOf(site.bench) ?? ''];
  });
}, 900_000);

it('a run that comes to nothing leaves the workspace as it was, from every state that a kill leaves', async () => {
  const red: Sweep = {
    steps: [first, [{ key: 'edit', name: 'write_file', input: { path: '.gitignore', content: '*.log\n' } }]],
    policy: { limits: { attempts: 1 }, verify: { checks: [{ name: 'never', run: 'false' }] } },
    expectEnd({ bench }, end, at) {
      const isOver = end.stdout.includes('limit attempts is used up');
      if (!isOver)
        expect({ at, code: end.code, outcome: end.result?.outcome }).toEqual({ at, code: 10, outcome: 'unverified' });
      const tree = treeOf(bench.ws);
      expect({ at, names: Object.keys(tree), ignore: tree['.gitignore'] }).toEqual({
        at,
        names: ['.gitignore', 'belay.yml'],
        ignore: 'ran.txt\n',
      });
    },
  };
  await sweep(red, async () => ['run', 'go on']);
}, 900_000);
