/** A `belay.yml` to start from, by what the folder shows. Its code is read when it is asked for: no run needs it. */
export async function proposeStarter(dir: string): Promise<string> {
  const [{ readRepositoryFacts }, { proposePolicy }] = await Promise.all([
    import('./repository-facts.ts'),
    import('./starter-policy.ts'),
  ]);
  return proposePolicy(await readRepositoryFacts(dir));
}
