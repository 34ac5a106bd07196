import { describe, expect, it } from 'vitest';
import { BUILT_IN_TESTS, createMatcher } from '../../src/policy/index.ts';
import { RUNNER_CONFIGS, splitTestChanges } from '../../src/verify/index.ts';

const tests = createMatcher(BUILT_IN_TESTS);
const configs = createMatcher(RUNNER_CONFIGS);
const matches = { test: (path: string) => tests(path) !== null, config: (path: string) => configs(path) !== null };

describe('split-test-changes', () => {
  it('puts changed tests back, leaves added ones and takes added configs out', () => {
    const changed = [
      { path: 'src/add.ts', kind: 'update' },
      { path: 'src/new.ts', kind: 'add' },
      { path: 'test/add.test.ts', kind: 'update' },
      { path: 'test/gone.test.ts', kind: 'delete' },
      { path: 'test/new.test.ts', kind: 'add' },
      { path: 'test/conftest.py', kind: 'add' },
      { path: 'conftest.py', kind: 'update' },
      { path: 'vitest.config.ts', kind: 'add' },
      { path: 'packages/a/.npmrc', kind: 'add' },
      { path: 'package.json', kind: 'update' },
    ] as const;
    expect(splitTestChanges(changed, matches)).toEqual({
      restored: ['test/add.test.ts', 'test/gone.test.ts', 'conftest.py'],
      removed: ['test/conftest.py', 'vitest.config.ts', 'packages/a/.npmrc'],
      kept: ['test/new.test.ts'],
    });
  });

  it('knows every config of the built-in list as one', () => {
    const added = [
      'jest.setup.js',
      '.mocharc.cjs',
      'pytest.ini',
      'tox.ini',
      'setup.cfg',
      'tsconfig.base.json',
      'eslint.config.js',
      'biome.jsonc',
      'Makefile',
      '.cargo/config.toml',
      'sitecustomize.py',
      'unittest/__main__.py',
      'pytest.py',
      'pnpm-workspace.yaml',
      '.rspec',
      'phpunit.xml.dist',
      'rust-toolchain.toml',
      '.golangci.yml',
      '.nvmrc',
      'nextest.toml',
    ];
    expect(
      splitTestChanges(
        added.map((path) => ({ path, kind: 'add' })),
        matches,
      ).removed,
    ).toEqual(added);
  });

  it('does not touch what the policy does not call a test', () => {
    const only = { test: (path: string) => path.startsWith('checks/'), config: matches.config };
    expect(
      splitTestChanges(
        [
          { path: 'vitest.config.ts', kind: 'add' },
          { path: 'checks/a.sh', kind: 'update' },
        ],
        only,
      ),
    ).toEqual({ restored: ['checks/a.sh'], removed: [], kept: [] });
  });
});
