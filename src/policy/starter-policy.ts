import { BUILT_IN_PROTECT } from './built-in-lists.ts';
import type { PythonFacts } from './python-facts.ts';
import type { NodeManager, RepositoryFacts } from './repository-facts.ts';

interface Proposal {
  name: string;
  run: string;
}

/** A `belay.yml` to start from: what the repository shows as checks, the rest as its defaults, explained. */
export function proposePolicy(facts: RepositoryFacts): string {
  return [
    '# What belay may do here, and what decides that the work is done.',
    '# `belay policy check` validates this file; `belay policy show` prints every value with its source.',
    'version: 1',
    '',
    '# The model, here or with --model PROVIDER/NAME. The key comes from the environment variable that is named.',
    '# model: {provider: openai, name: NAME, api_key_env: OPENAI_API_KEY}',
    '',
    '# The run ends at the first limit that it reaches. Options can only tighten these.',
    'limits:',
    '  turns: 40',
    '  attempts: 3',
    '  wall_time: 30m',
    '  cost_usd: 5',
    '',
    ...workspaceLines(facts),
    '# Commands run without a network, unless `sandbox.network` names hosts. These rules tell the model early; the sandbox is the boundary.',
    'commands:',
    '  deny: [git push]',
    '',
    ...setupLines(facts),
    ...verifyLines(facts),
  ].join('\n');
}

function workspaceLines({ ci }: RepositoryFacts): readonly string[] {
  const built = (name: string) => BUILT_IN_PROTECT.some((glob) => glob === name || glob === `${name}/**`);
  const own = ci.filter((name) => !built(name)).map((name) => (/\.ya?ml$/.test(name) ? name : `${name}/**`));
  if (own.length === 0) return [];
  return [
    '# Never writable by the agent, besides git, GitHub, GitLab, CircleCI and Jenkins files and this policy.',
    'workspace:',
    `  protect: [${own.join(', ')}]`,
    '',
  ];
}

function setupLines(facts: RepositoryFacts): readonly string[] {
  const installs = installCommands(facts);
  if (installs.length === 0) return [];
  return [
    '# Install dependencies in the job before belay starts, or here. A setup step has no network but the hosts that it',
    '# names: those of your package registry.',
    '# setup:',
    ...installs.map((run) => `#   - {run: ${run}, network: {allow: [REGISTRY]}}`),
    '',
  ];
}

function verifyLines(facts: RepositoryFacts): readonly string[] {
  const checks = proposedChecks(facts);
  if (checks.length === 0)
    return [
      '# No test command was found. Without a check nothing can be verified, and a run ends as `unchecked`, exit code 3: name one.',
      '# (`checks: []` says that this is meant, and gives exit code 0.)',
      '# verify:',
      '#   checks:',
      '#     - {name: tests, run: make test, timeout: 10m}',
      '',
    ];
  return [
    '# What has to pass, in a clean room, before the work counts as verified.',
    'verify:',
    '  checks:',
    ...checks.map(({ name, run }) => `    - {name: ${name}, run: ${run}, timeout: 10m}`),
    '',
  ];
}

/** The makefile only where nothing else names a test: it mostly calls the same one. */
function proposedChecks(facts: RepositoryFacts): readonly Proposal[] {
  const found = [...nodeChecks(facts), ...pythonChecks(facts), ...otherChecks(facts)];
  if (facts.makeTarget !== null && !found.some(({ name }) => name.startsWith('tests')))
    return [{ name: 'tests', run: `make ${facts.makeTarget}` }, ...found];
  const tests = found.filter(({ name }) => name.startsWith('tests'));
  // one language: the plain name will do
  return tests.length === 1 ? found.map((check) => (check === tests[0] ? { ...check, name: 'tests' } : check)) : found;
}

function nodeChecks({ node }: RepositoryFacts): readonly Proposal[] {
  const names = { test: 'tests-node', lint: 'lint', typecheck: 'types', 'type-check': 'types' };
  const checks = (node?.scripts ?? []).map((script) => ({
    name: names[script],
    run: script === 'test' && node?.manager !== 'bun' ? `${node?.manager} test` : `${node?.manager} run ${script}`,
  }));
  return checks.filter(({ name }, index) => checks.findIndex((check) => check.name === name) === index);
}

function pythonChecks({ python }: RepositoryFacts): readonly Proposal[] {
  if (python === null || python.runner === null) return [];
  const start = { uv: 'uv run --offline ', poetry: 'poetry run ', pip: '' }[python.manager];
  const run = {
    pytest: 'python3 -m pytest',
    django: 'python3 manage.py test',
    unittest: `python3 -m unittest discover${python.folder === null ? '' : ` -s ${python.folder}`}`,
  };
  return [{ name: 'tests-python', run: `${start}${run[python.runner]}` }];
}

function otherChecks({ go, rust, ruby, php, java }: RepositoryFacts): readonly Proposal[] {
  const checks: Proposal[] = [];
  if (go) checks.push({ name: 'tests-go', run: 'go test ./...' }, { name: 'vet', run: 'go vet ./...' });
  if (rust !== null) checks.push({ name: 'tests-rust', run: rust.hasLock ? 'cargo test --locked' : 'cargo test' });
  if (ruby?.runner != null)
    checks.push({
      name: 'tests-ruby',
      run: ruby.runner === 'rspec' ? 'bundle exec rspec' : 'bundle exec rake test',
    });
  if (php?.runner != null)
    checks.push({ name: 'tests-php', run: php.runner === 'composer' ? 'composer test' : 'vendor/bin/phpunit' });
  if (java !== null) {
    const maven = `${java.hasWrapper ? './mvnw' : 'mvn'} --offline test`;
    const gradle = `${java.hasWrapper ? './gradlew' : 'gradle'} --offline test`;
    checks.push({ name: 'tests-java', run: java.tool === 'maven' ? maven : gradle });
  }
  return checks;
}

const NODE_INSTALLS: Readonly<Record<NodeManager, string>> = {
  npm: 'npm ci',
  pnpm: 'pnpm install --frozen-lockfile',
  yarn: 'yarn install --frozen-lockfile',
  bun: 'bun install --frozen-lockfile',
};

function pythonInstalls({ manager, hasRequirements, isPackage }: PythonFacts): readonly string[] {
  if (manager !== 'pip') return [{ uv: 'uv sync --frozen', poetry: 'poetry install' }[manager]];
  if (hasRequirements) return ['python3 -m pip install -r requirements.txt'];
  return isPackage ? ['python3 -m pip install .'] : [];
}

function installCommands({ node, python, go, rust, ruby, php }: RepositoryFacts): readonly string[] {
  const installs: string[] = [];
  if (node !== null) installs.push(node.hasLock ? NODE_INSTALLS[node.manager] : 'npm install');
  if (python !== null) installs.push(...pythonInstalls(python));
  if (go) installs.push('go mod download');
  if (rust !== null) installs.push(rust.hasLock ? 'cargo fetch --locked' : 'cargo fetch');
  if (ruby !== null) installs.push('bundle install');
  if (php !== null) installs.push('composer install');
  return installs;
}
