import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadPolicy, proposeStarter, unsupportedKeys } from '../../src/policy/index.ts';
import { isExecutable } from '../../src/sandbox/index.ts';

/** Without tools of its own. */
const MACHINE = { home: '/nowhere', path: '', node: process.execPath, isExecutable };
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function repository(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'belay-starter-'));
  folders.push(dir);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

async function propose(files: Readonly<Record<string, string>>) {
  const { text, hasChecks } = await proposeStarter(repository(files), MACHINE);
  const loaded = await loadPolicy({ kind: 'text', bytes: Buffer.from(text), source: 'belay.yml' });
  const { checks } = loaded.policy.verify;
  expect(hasChecks).toBe(checks.length > 0);
  const told = checks.map(({ name, run, workdir }) => `${name}: ${run}${workdir === null ? '' : ` (${workdir})`}`);
  return { text, loaded, checks: told };
}

const manifest = (scripts: Record<string, string>) => JSON.stringify({ name: 'x', version: '1.0.0', scripts });

test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
  ['npm without a lock file', { 'package.json': manifest({ test: 'node --test' }) }, ['tests: npm test']],
  [
    'pnpm with lint and types',
    {
      'package.json': manifest({ typecheck: 'tsc', 'type-check': 'tsc', lint: 'eslint .', test: 'jest' }),
      'pnpm-lock.yaml': '',
    },
    ['tests: pnpm test', 'lint: pnpm run lint', 'types: pnpm run typecheck'],
  ],
  ['yarn', { 'package.json': manifest({ test: 'jest' }), 'yarn.lock': '' }, ['tests: yarn test']],
  ['bun', { 'package.json': manifest({ test: 'bun test' }), 'bun.lock': '' }, ['tests: bun run test']],
  ['the test script of npm init', { 'package.json': manifest({ test: 'echo "Error: no test specified"' }) }, []],
  ['a broken package.json', { 'package.json': '{"scripts": [' }, []],
  ['scripts of another shape', { 'package.json': '{"scripts": ["test"]}' }, []],
  ['a manifest that is no map', { 'package.json': 'null' }, []],
  ['pytest in pyproject', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }, ['tests: python3 -m pytest']],
  ['tox', { 'tox.ini': '[testenv]\ncommands = pytest\n' }, ['tests: python3 -m pytest']],
  ['uv', { 'pyproject.toml': 'dev = ["pytest>=8"]\n', 'uv.lock': '' }, ['tests: uv run --offline python3 -m pytest']],
  ['django', { 'manage.py': '', 'requirements.txt': 'django\n' }, ['tests: python3 manage.py test']],
  ['unittest', { 'setup.py': '', 'tests/test_a.py': '' }, ['tests: python3 -m unittest discover -s tests']],
  [
    'unittest in a package of tests',
    { 'setup.cfg': '[metadata]\n', 'test/__init__.py': '', 'test/test_a.py': 'import unittest\n' },
    ['tests: python3 -m unittest discover'],
  ],
  [
    'pyproject without a runner, tests that are functions',
    { 'pyproject.toml': '[project]\nname = "x"\n', 'tests/test_a.py': 'def test_a():\n    assert True\n' },
    ['tests: python3 -m pytest'],
  ],
  [
    'requirements and a conftest of the tests',
    { 'requirements.txt': 'flask\n', 'tests/conftest.py': '', 'tests/test_a.py': '' },
    ['tests: python3 -m pytest'],
  ],
  ['tests beside the code', { 'pyproject.toml': '', 'test_a.py': '' }, ['tests: python3 -m unittest discover']],
  [
    'modules and tests alone',
    { 'm.py': '', 'tests/test_m.py': 'import unittest\n' },
    ['tests: python3 -m unittest discover -s tests'],
  ],
  [
    'modules and tests that are functions',
    { 'm.py': '', 'test_m.py': 'def test_a(): pass\n' },
    ['tests: python3 -m pytest'],
  ],
  ['a script beside a make file', { 'gen.py': '', 'tests/a.sh': '', Makefile: 'test:\n' }, ['tests: make test']],
  ['a test in Python of something else', { Makefile: 'test:\n', 'tests/test_a.py': '' }, ['tests: make test']],
  ['pyproject without tests', { 'pyproject.toml': '[project]\nname = "x"\n', 'x.py': '' }, []],
  ['go', { 'go.mod': 'module x\n', 'a/b_test.go': '' }, ['tests: go test ./...', 'vet: go vet ./...']],
  [
    'go without tests',
    { 'go.mod': 'module x\n', 'vendor/x_test.go': '' },
    ['build: go build ./...', 'vet: go vet ./...'],
  ],
  [
    'go workspace',
    { 'go.work': 'go 1.22\nuse ./a\n', 'a/go.mod': 'module a\n', 'a/a_test.go': '' },
    ["tests: go list -f '{{.Dir}}/...' -m | xargs go test", "vet: go list -f '{{.Dir}}/...' -m | xargs go vet"],
  ],
  ['cargo workspace', { 'Cargo.toml': '[workspace]\nmembers = ["a"]\n' }, ['tests: cargo test --offline --workspace']],
  [
    'cargo package with members',
    { 'Cargo.toml': '[package]\nname = "x"\n[workspace]\n', 'Cargo.lock': '' },
    ['tests: cargo test --offline --workspace --locked'],
  ],
  ['cargo', { 'Cargo.toml': '', 'Cargo.lock': '' }, ['tests: cargo test --offline --locked']],
  ['rspec', { Gemfile: '', '.rspec': '' }, ['tests: bundle exec rspec']],
  [
    'rspec by its helper',
    { Gemfile: '', Rakefile: 'task :x', 'spec/spec_helper.rb': '' },
    ['tests: bundle exec rspec'],
  ],
  ['minitest', { Gemfile: '', Rakefile: 'Minitest::TestTask.create\n' }, ['tests: bundle exec rake test']],
  ['another task of rake', { Gemfile: '', Rakefile: 'task default: %w[lint spec]\n' }, ['tests: bundle exec rake']],
  [
    'minitest without rake',
    { Gemfile: '', 'test/a_test.rb': '' },
    [`tests: bundle exec ruby -Ilib -Itest -e 'Dir.glob("./test/**/{test_*,*_test}.rb") { |file| require file }'`],
  ],
  ['a gem without a Gemfile', { 'x.gemspec': '', Rakefile: 'Rake::TestTask.new\n' }, ['tests: rake test']],
  ['rails', { Gemfile: '', Rakefile: '', 'bin/rails': '', 'test/test_helper.rb': '' }, ['tests: bin/rails test']],
  ['rails with rspec', { Gemfile: '', 'bin/rails': '', 'spec/rails_helper.rb': '' }, ['tests: bundle exec rspec']],
  ['laravel', { 'composer.json': '{}', artisan: '', 'phpunit.xml': '' }, ['tests: php artisan test']],
  ['pest', { 'composer.json': '{}', 'tests/Pest.php': '', 'phpunit.xml': '' }, ['tests: vendor/bin/pest']],
  [
    'phpunit without a configuration',
    { 'composer.json': '{"require-dev": {"phpunit/phpunit": "^11"}}', 'tests/ATest.php': '' },
    ['tests: vendor/bin/phpunit tests'],
  ],
  ['php without tests', { 'composer.json': '{}' }, []],
  ['dotnet', { 'x.sln': '', 'x.csproj': '' }, ['tests: dotnet test']],
  ['elixir', { 'mix.exs': '' }, ['tests: mix test']],
  ['flutter', { 'pubspec.yaml': 'dependencies:\n  flutter:\n    sdk: flutter\n' }, ['tests: flutter test']],
  ['dart', { 'pubspec.yaml': 'name: x\n' }, ['tests: dart test']],
  [
    'cmake',
    { 'CMakeLists.txt': 'project(x)\nenable_testing()\n' },
    ['tests: cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure'],
  ],
  ['cmake without tests', { 'CMakeLists.txt': 'project(x)\n' }, []],
  ['perl', { 'Makefile.PL': '', 't/a.t': '', 'lib/A.pm': '' }, ['tests: prove -lr t']],
  ['perl without tests', { cpanfile: '' }, []],
  ['just', { justfile: 'test *args:\n  sh t.sh\n' }, ['tests: just test']],
  ['just beside npm', { justfile: 'test:\n', 'package.json': manifest({ test: 'x' }) }, ['tests: npm test']],
  [
    'a manager by name alone',
    { 'package.json': '{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}' },
    ['tests: pnpm test'],
  ],
  ['npm workspaces', { 'package.json': '{"workspaces": ["a"]}' }, ['tests: npm test --workspaces --if-present']],
  [
    'pnpm workspaces',
    { 'package.json': '{}', 'pnpm-workspace.yaml': '', 'pnpm-lock.yaml': '' },
    ['tests: pnpm --recursive test'],
  ],
  [
    'a monorepo of several languages',
    {
      'backend/go.mod': 'module b\n',
      'backend/b_test.go': '',
      'frontend/package.json': manifest({ test: 'x', lint: 'x' }),
      'apps/web/package.json': manifest({ test: 'x' }),
      'services/1/pom.xml': '',
      'docs/package.json': manifest({ test: 'x' }),
      'bad name; x/package.json': manifest({ test: 'x' }),
    },
    [
      'tests-backend: go test ./... (backend)',
      'tests-frontend: npm test (frontend)',
      'tests-apps/web: npm test (apps/web)',
      'tests-services/1: mvn --batch-mode --offline test (services/1)',
    ],
  ],
  [
    'a root that only lints, over a project',
    { 'package.json': manifest({ lint: 'x' }), 'api/Cargo.toml': '[package]\n' },
    ['lint: npm run lint', 'tests: cargo test --offline (api)'],
  ],
  [
    'a root that tests, over projects',
    { 'package.json': manifest({ test: 'x' }), 'api/Cargo.toml': '[package]\n' },
    ['tests: npm test'],
  ],
  ['rake', { Gemfile: '', Rakefile: 'task :test\n' }, ['tests: bundle exec rake test']],
  ['composer', { 'composer.json': manifest({ test: 'phpunit' }) }, ['tests: composer test']],
  ['phpunit', { 'composer.json': '{}', 'phpunit.xml.dist': '' }, ['tests: vendor/bin/phpunit']],
  ['maven', { 'pom.xml': '', mvnw: '' }, ['tests: ./mvnw --batch-mode --offline test']],
  ['gradle', { 'build.gradle.kts': '' }, ['tests: gradle --offline test']],
  ['make', { Makefile: 'TEST := x\n.PHONY: test\ntest: all\n\tsh t.sh\n' }, ['tests: make test']],
  ['make with a variable of that name', { Makefile: 'test := x\ncheck:\n\tsh t.sh\n' }, ['tests: make check']],
  ['make beside npm', { Makefile: 'test:\n', 'package.json': manifest({ test: 'x' }) }, ['tests: npm test']],
  [
    'make beside a linter only',
    { Makefile: 'test:\n', 'package.json': manifest({ lint: 'x' }) },
    ['tests: make test', 'lint: npm run lint'],
  ],
  [
    'two languages',
    { 'package.json': manifest({ test: 'x' }), 'Cargo.toml': '' },
    ['tests-node: npm test', 'tests-rust: cargo test --offline'],
  ],
])('%s gives its checks, and the file is valid and runnable here', async (_, files, checks) => {
  const proposed = await propose(files);
  expect(proposed.checks).toEqual(checks);
  expect(unsupportedKeys(proposed.loaded)).toEqual([]);
});

test('an empty repository and a missing folder give no checks, with a hint', async () => {
  const { text, loaded } = await propose({});
  expect(loaded.policy.verify).toMatchObject({ checks: [], checksDeclaredEmpty: false });
  expect(text).toContain('#     - {name: tests, run: make test, timeout: 10m}');
  expect(await proposeStarter(join(repository({}), 'none'), MACHINE)).toEqual({ text, hasChecks: false });
});

test('installing is a commented step that names the hosts it needs', async () => {
  const { text } = await propose({ 'package.json': manifest({ test: 'x' }), 'package-lock.json': '{}' });
  expect(text).toContain('# setup:\n#   - {run: npm ci, network: {allow: [REGISTRY]}}\n');
});

test('what a part needs is installed in the part', async () => {
  const { text } = await propose({ 'api/Gemfile': '', 'api/.rspec': '', 'web/package.json': manifest({ test: 'x' }) });
  expect(text).toContain('#   - {run: "cd api && bundle install", network: {allow: [REGISTRY]}}\n');
  expect(text).toContain('#   - {run: "cd web && npm install", network: {allow: [REGISTRY]}}\n');
});

test('nothing is installed where there is nothing that pip could install', async () => {
  const { text } = await propose({ 'm.py': '', 'test_m.py': '' });
  expect(text).not.toContain('pip install');
});

test('the commented lines are valid as well once they are taken in', async () => {
  const { text } = await propose({ 'package.json': manifest({}), 'package-lock.json': '{}' });
  const taken = text
    .replace(/^# (?=setup:|model:)/gm, '')
    .replace(/^# (?= {2}- \{run: npm ci)/gm, '')
    .replace(/^#(?= {3}- )/gm, '');
  const { policy } = await loadPolicy({ kind: 'text', bytes: Buffer.from(taken), source: 'belay.yml' });
  expect(policy.setup.map(({ run }) => run)).toEqual(['npm ci']);
  expect(policy.setup.map(({ network }) => network)).toEqual([{ mode: 'allow', hosts: ['REGISTRY'] }]);
  expect(policy.model?.provider).toBe('openai');
});

test('files of CI systems beyond the built-in list are protected', async () => {
  const { loaded } = await propose({
    '.github/workflows/ci.yml': '',
    '.travis.yml': '',
    '.buildkite/pipeline.yml': '',
  });
  expect(loaded.policy.workspace.protect.slice(-2)).toEqual(['.travis.yml', '.buildkite/**']);
  expect(loaded.policy.workspace.protect.filter((glob) => glob === '.github/**')).toHaveLength(1);
});

test.skipIf(process.platform === 'win32')('a pipe or a folder in the place of a manifest is passed over', async () => {
  const dir = repository({ 'Makefile/x': '' });
  execFileSync('mkfifo', [join(dir, 'package.json')]);
  expect(await proposeStarter(dir, MACHINE)).toEqual(await proposeStarter(repository({}), MACHINE));
});

test('tools and caches of the home that the checks need are readable, and not what lies beside them', async () => {
  const home = repository({
    '.cargo/bin/cargo': '',
    '.cargo/credentials.toml': '',
    '.cargo/registry/x': '',
    '.rustup/settings.toml': '',
    '.pyenv/shims/python3': '',
    '.local/share/python-3.13/bin/python3.13': '',
    '.local/lib/python3.13/x': '',
    '.m2/settings.xml': '',
    '.m2/repository/x': '',
    '.sdkman/candidates/java/21/bin/java': '',
    'bin/mvn': '',
    'odd name/bin/npm': '',
    'code/.venv/bin/python3': '',
    '.nvm/node/bin/node': '',
    '.nvm/node/bin/npm': '',
  });
  const programs = ['.cargo/bin/cargo', '.pyenv/shims/python3', '.sdkman/candidates/java/21/bin/java', 'bin/mvn'];
  const more = ['odd name/bin/npm', 'code/.venv/bin/python3', '.nvm/node/bin/npm'];
  for (const program of [...programs, ...more]) chmodSync(join(home, program), 0o755);
  const found = async (first: string, files: Readonly<Record<string, string>>) => {
    const path = [first, ...programs, ...more].map((program) => join(home, dirname(program))).join(':');
    const folder = join(home, 'code');
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const node = join(home, '.nvm/node/bin/node');
    const { text } = await proposeStarter(folder, { home, path, node, isExecutable });
    for (const name of Object.keys(files)) rmSync(join(folder, name));
    const loaded = await loadPolicy({ kind: 'text', bytes: Buffer.from(text), source: 'belay.yml' });
    return loaded.policy.sandbox.readable;
  };
  expect(await found('x', { 'Cargo.toml': '[package]\n' })).toEqual(['~/.cargo/bin', '~/.cargo/registry', '~/.rustup']);
  expect(await found('x', { 'pom.xml': '' })).toEqual(['~/.m2/repository', '~/.sdkman/candidates/java/21', '~/bin']);
  const python = { 'pytest.ini': '', 'test_a.py': '' };
  expect(await found('x', python)).toEqual(['~/.local/lib/python3.13', '~/.pyenv']);
  expect(await found('code/.venv/bin/x', python)).toEqual(['~/.local/lib/python3.13']);
  expect(await found('.nvm/node/bin/x', { 'package.json': manifest({ test: 'x' }) })).toEqual([]);
  expect(await found('odd name/bin/x', { 'package.json': manifest({ test: 'x' }) })).toEqual([]);
  rmSync(join(home, '.pyenv/shims/python3'));
  symlinkSync('../../.local/share/python-3.13/bin/python3.13', join(home, '.pyenv/shims/python3'));
  chmodSync(join(home, '.local/share/python-3.13/bin/python3.13'), 0o755);
  expect(await found('x', python)).toEqual(['~/.local/lib/python3.13', '~/.local/share/python-3.13', '~/.pyenv']);
});
