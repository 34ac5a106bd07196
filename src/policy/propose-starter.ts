import type { Machine } from './home-facts.ts';

export interface Starter {
  text: string;
  /** Whether it names a check: without one nothing can be verified. */
  hasChecks: boolean;
}

/** A `belay.yml` to start from, by what the folder and the machine show. Its code is read when it is asked for: no run needs it. */
export async function proposeStarter(dir: string, machine: Machine): Promise<Starter> {
  const [
    { findCiFiles, readParts, readProjectFacts },
    { proposeChecks, proposeInstalls, proposesTests },
    { renderStarter },
    { findHomeFolders },
  ] = await Promise.all([
    import('./repository-facts.ts'),
    import('./starter-checks.ts'),
    import('./starter-policy.ts'),
    import('./home-facts.ts'),
  ]);
  const facts = await readProjectFacts(dir);
  const parts = proposesTests(facts) ? [] : await readParts(dir);
  const checks = proposeChecks(facts, parts);
  const text = renderStarter({
    checks,
    installs: proposeInstalls(facts, parts),
    ci: await findCiFiles(dir),
    readable: findHomeFolders(checks, dir, machine),
  });
  return { text, hasChecks: checks.length > 0 };
}
