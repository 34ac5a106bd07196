import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { IS_LINUX } from '../sandbox/fixture.ts';
import { type Bench, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';

const Findings = z.array(
  z.object({
    name: z.string(),
    works: z.boolean(),
    required: z.boolean(),
    says: z.string(),
    fix: z.string().nullable(),
  }),
);

let bench: Bench;
afterEach(() => bench.remove());

async function examine(env: NodeJS.ProcessEnv = {}): Promise<Map<string, z.infer<typeof Findings>[number]>> {
  const { stdout } = await runCli(['doctor', '--json'], bench, { env });
  return new Map(Findings.parse(JSON.parse(stdout)).map((finding) => [finding.name, finding]));
}

describe('belay doctor', () => {
  beforeEach(() => {
    bench = createBench({});
  });

  it('says which way out belay itself has, by the names of variables and never by what they hold', async () => {
    expect((await examine()).get('network')).toMatchObject({ works: true, says: 'direct, no proxy or extra CA named' });
    const password = ['pass', 'word', 'of', 'proxy'].join('-');
    const { stdout } = await runCli(['doctor'], bench, {
      env: { HTTPS_PROXY: `http://user:${password}@proxy.example:3128`, NO_PROXY: 'localhost' },
    });
    expect(stdout).toMatch(/^ok {3}network: from the environment: HTTPS_PROXY, NO_PROXY$/m);
    expect(stdout).not.toContain(password);
  });
});

describe.each(USERS)('belay doctor, run by $who,', ({ uid, works }) => {
  beforeEach(() => {
    bench = createBench({}, uid);
  });

  it.skipIf(!works || !IS_LINUX)('probes the fence, and says how to mend what does not work', async () => {
    const sandbox = [...(await examine())].filter(([name]) => name.startsWith('sandbox'));
    expect(sandbox.length).toBeGreaterThan(0);
    expect(sandbox.filter(([, finding]) => !finding.works && finding.fix === null)).toEqual([]);
    const without = await examine({ PATH: process.execPath.replace(/\/node$/, '/../lib/nowhere') });
    expect(without.get('git')).toMatchObject({ works: false, fix: 'install git 2.38 or newer' });
  });
});
