/**
 * Files that decide how checks run rather than what they test, among those that `workspace.tests` may name: when a change adds one,
 * the pristine pass runs without it. Globs as in the policy: without `/` they match at any depth.
 */
export const RUNNER_CONFIGS: readonly string[] = [
  '{jest,vitest,karma,ava,cypress,playwright,wdio,nightwatch,web-test-runner}.config.*',
  '{jest,vitest}.{setup,workspace,global-setup}.*',
  '{vite,rollup,webpack,babel,eslint,prettier}.config.*',
  '.{mocharc,nycrc,c8rc,babelrc,eslintrc,prettierrc,yarnrc,swcrc}*',
  '.taprc',
  'karma.conf.*',
  '.npmrc',
  '.pnpmfile.cjs',
  'pnpm-workspace.yaml',
  'bunfig.toml',
  'deno.json*',
  '{ts,js}config*.json',
  'biome.json*',
  '.eslintignore',
  '.{node,python,ruby}-version',
  '.nvmrc',
  '.tool-versions',
  'conftest.py',
  '{pytest,.pytest,tox,mypy,.mypy}.ini',
  'noxfile.py',
  '.coveragerc',
  'setup.cfg',
  '{sitecustomize,usercustomize}.py',
  '/{pytest,unittest,doctest,nose2,tox,nox,coverage}.py',
  '/{pytest,unittest,doctest,nose2,tox,nox,coverage}/__{main,init}__.py',
  '*.pth',
  '{ruff,.ruff,nextest,clippy,.clippy}.toml',
  'pyrightconfig.json',
  '.flake8',
  '.pylintrc',
  '.rspec*',
  '.rubocop*.yml',
  'Rakefile',
  '.bundle/config',
  '{phpunit,phpunit.dist}.xml*',
  '{behat.yml,phpstan.neon,psalm.xml}*',
  'checkstyle*.xml',
  '.cargo/config*',
  'rust-toolchain*',
  'junit-platform.properties',
  'testng.xml',
  '.golangci.*',
  '{Makefile,GNUmakefile,makefile,justfile}',
  'Taskfile.y*ml',
];

export interface TestChanges {
  /** Changed or deleted test files and configs: the pristine pass has their base versions. */
  restored: readonly string[];
  /** Added configs: the pristine pass runs without them. */
  removed: readonly string[];
  /** Added tests: the pristine pass runs them too. */
  kept: readonly string[];
}

/** What the pristine pass does about a change's files of `workspace.tests`. Moved files are a deletion and an addition. */
export function splitTestChanges(
  changed: readonly { path: string; kind: 'add' | 'update' | 'delete' }[],
  matches: { test(path: string): boolean; config(path: string): boolean },
): TestChanges {
  const tests = changed.filter(({ path }) => matches.test(path));
  const added = tests.filter(({ kind }) => kind === 'add').map(({ path }) => path);
  return {
    restored: tests.filter(({ kind }) => kind !== 'add').map(({ path }) => path),
    removed: added.filter((path) => matches.config(path)),
    kept: added.filter((path) => !matches.config(path)),
  };
}
