import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadPolicy, proposeStarter, unsupportedKeys } from '../../src/policy/index.ts';

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
  const text = await proposeStarter(repository(files));
  const loaded = await loadPolicy({ kind: 'text', bytes: Buffer.from(text), source: 'belay.yml' });
  return { text, loaded, checks: loaded.policy.verify.checks.map(({ name, run }) => `${name}: ${run}`) };
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
  ['go', { 'go.mod': 'module x\n' }, ['tests: go test ./...', 'vet: go vet ./...']],
  ['cargo', { 'Cargo.toml': '', 'Cargo.lock': '' }, ['tests: cargo test --locked']],
  ['rspec', { Gemfile: '', '.rspec': '' }, ['tests: bundle exec rspec']],
  ['rake', { Gemfile: '', Rakefile: '' }, ['tests: bundle exec rake test']],
  ['composer', { 'composer.json': manifest({ test: 'phpunit' }) }, ['tests: composer test']],
  ['phpunit', { 'composer.json': '{}', 'phpunit.xml.dist': '' }, ['tests: vendor/bin/phpunit']],
  ['maven', { 'pom.xml': '', mvnw: '' }, ['tests: ./mvnw --offline test']],
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
    ['tests-node: npm test', 'tests-rust: cargo test'],
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
  expect(await proposeStarter(join(repository({}), 'none'))).toBe(text);
});

test('installing is a commented step that names the hosts it needs', async () => {
  const { text } = await propose({ 'package.json': manifest({ test: 'x' }), 'package-lock.json': '{}' });
  expect(text).toContain('# setup:\n#   - {run: npm ci, network: {allow: [REGISTRY]}}\n');
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
  expect(await proposeStarter(dir)).toBe(await proposeStarter(repository({})));
});
