import { describe, expect, it } from 'vitest';
import type { ChangedFile } from '../../src/events/index.ts';
import { loadPolicy, type Policy } from '../../src/policy/index.ts';
import { judgeDependencies, judgeScope, reviewAreas, touchedTests } from '../../src/workspace/index.ts';

const policyOf = async (text: string): Promise<Policy> => {
  const bytes = Buffer.from(`version: 1\n${text}`);
  return (await loadPolicy({ kind: 'text', bytes, source: 'belay.yml' })).policy;
};

const changed = (path: string, kind: ChangedFile['kind'] = 'update', lines = 1): ChangedFile => ({
  path,
  kind,
  added: lines,
  removed: 0,
  binary: false,
});

const rules = async (policy: string, paths: readonly string[], also: readonly string[] = []): Promise<string[]> =>
  judgeScope(
    paths.map((path) => changed(path)),
    await policyOf(policy),
    also,
  ).map(({ rule, path }) => `${rule} ${path}`);

describe('the scope of a change', () => {
  it.each([
    ['', ['src/a.ts', 'README.md'], []],
    ['', ['.github/workflows/ci.yml'], ['workspace.protect .github/workflows/ci.yml']],
    ['', ['sub/AGENTS.md', '.gitattributes'], ['workspace.protect sub/AGENTS.md', 'workspace.protect .gitattributes']],
    ['workspace: {write: ["src/**"]}', ['src/a.ts', 'srcs/a.ts'], ['workspace.write srcs/a.ts']],
    ['workspace: {write: []}', ['a'], ['workspace.write a']],
    ['workspace: {protect: ["gen/**"]}', ['gen/a', 'b'], ['workspace.protect gen/a']],
    ['workspace: {protect: ["!Jenkinsfile"]}', ['Jenkinsfile', 'CODEOWNERS'], ['workspace.protect CODEOWNERS']],
  ] as const)('of %j: %j breaks %j', async (policy, paths, broken) => {
    expect(await rules(policy, paths)).toEqual(broken);
  });

  it('protects what a run adds even where the policy takes it out', async () => {
    const policy = 'workspace: {protect: ["!belay.yml"]}';
    expect(await rules(policy, ['belay.yml'])).toEqual([]);
    expect(await rules(policy, ['belay.yml'], ['/belay.yml'])).toEqual(['workspace.protect belay.yml']);
  });

  it('says what happened to a file and which rule is broken', async () => {
    const policy = await policyOf('workspace: {write: ["src/**"]}\n');
    expect(judgeScope([changed('CODEOWNERS', 'delete'), changed('lib/a', 'add')], policy)).toEqual([
      {
        rule: 'workspace.protect',
        path: 'CODEOWNERS',
        reason: 'CODEOWNERS was deleted, but is protected (CODEOWNERS)',
      },
      { rule: 'workspace.write', path: 'lib/a', reason: 'lib/a was added, but is outside of workspace.write' },
    ]);
  });

  it('has limits that may be reached and not passed', async () => {
    const policy = await policyOf('limits: {changed_files: 2, changed_lines: 10}');
    expect(judgeScope([changed('a', 'add', 4), changed('b', 'add', 6)], policy)).toEqual([]);
    const over = [changed('a', 'add', 4), changed('b', 'add', 4), { ...changed('c', 'add', 2), removed: 1 }];
    expect(judgeScope(over, policy)).toEqual([
      { rule: 'limits.changed_files', path: null, reason: 'the change has 3 changed files, more than 2' },
      { rule: 'limits.changed_lines', path: null, reason: 'the change has 11 changed lines, more than 10' },
    ]);
  });

  it('names a hundred files at most, and the limits all the same', async () => {
    const policy = await policyOf('workspace: {write: []}');
    const files = Array.from({ length: 500 }, (_, at) => changed(`f${at}`));
    const violations = judgeScope(files, policy);
    expect(violations).toHaveLength(101);
    expect(violations.at(-1)?.rule).toBe('limits.changed_files');
  });
});

describe('dependencies, tests and areas for review', () => {
  const moved = { path: 'package.json', name: 'left-pad', from: null, to: '1.0.0' };

  it.each([
    ['deny', 1],
    ['report', 0],
    ['allow', 0],
  ] as const)('dependencies: %s breaks %i rules', async (mode, count) => {
    const broken = judgeDependencies([moved], await policyOf(`workspace: {dependencies: ${mode}}`));
    expect(broken).toHaveLength(count);
    for (const { rule, path, reason } of broken)
      expect([rule, path, reason]).toEqual([
        'workspace.dependencies',
        'package.json',
        'package.json changes the dependency left-pad (none → 1.0.0), but workspace.dependencies is deny',
      ]);
  });

  it('tells the tests apart, by the built-in list or by the policy', async () => {
    const files = ['src/a.ts', 'src/a.test.ts', 'test/b.js', 'checks/c', 'package.json'].map((path) => changed(path));
    expect(touchedTests(files, await policyOf(''))).toEqual(['src/a.test.ts', 'test/b.js']);
    expect(touchedTests(files, await policyOf('workspace: {tests: ["checks/**"]}'))).toEqual(['checks/c']);
    expect(touchedTests(files, await policyOf('workspace: {tests: []}'))).toEqual([]);
  });

  it('gathers areas for review by label, in the order of the policy', async () => {
    const policy = await policyOf(
      'workspace: {review: [{paths: ["auth/**"], label: security}, {paths: ["db/**"], label: data}, {paths: ["*.pem", "auth/a"], label: security}, {paths: ["none"], label: never}]}',
    );
    const files = ['db/x', 'auth/a', 'k.pem', 'other'].map((path) => changed(path));
    expect(reviewAreas(files, policy)).toEqual([
      { label: 'security', paths: ['auth/a', 'k.pem'] },
      { label: 'data', paths: ['db/x'] },
    ]);
  });
});
