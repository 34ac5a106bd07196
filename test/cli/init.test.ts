import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_ROOT } from '../sandbox/fixture.ts';
import { type Bench, CLI, type CliEnd, commitAll, createBench, runCli, writeCassette } from '../scenario.ts';

const said = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' }).stdout ?? '';
const isBubblewrap = said(process.execPath, CLI, 'doctor', '--json').includes('"bubblewrap: ');
/** Where belay is root and has no namespaces, its commands are another user: they do not see into a home that is root's alone. */
const isHomeSeen = isBubblewrap || !IS_ROOT || (statSync(homedir()).mode & 0o001) !== 0;

function has(program: string, ...args: string[]): boolean {
  if (spawnSync(program, args, { stdio: 'ignore' }).status !== 0) return false;
  return isHomeSeen || !said('which', program).startsWith(homedir());
}

interface Project {
  check: string;
  tool: string;
  works: boolean;
  files: Readonly<Record<string, string>>;
  /** Where `+` is a minus by mistake. */
  source: string;
}

/** One small project a toolchain, each with two tests, one of which fails. */
const PROJECTS: readonly Project[] = [
  {
    check: 'tests-node',
    tool: 'npm',
    works: has('npm', '--version'),
    source: 'add.js',
    files: {
      'package.json':
        '{"name": "x", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test add.test.js"}}',
      'add.js': 'export const add = (a, b) => a - b;\n',
      'add.test.js': `import test from 'node:test';
import assert from 'node:assert';
import { add } from './add.js';
test('adds', () => assert.equal(add(1, 2), 3));
test('adds nothing', () => assert.equal(add(1, 0), 1));
`,
    },
  },
  {
    check: 'tests-python',
    tool: 'python3 with unittest',
    works: has('python3', '-c', 'import unittest'),
    source: 'add.py',
    files: {
      'add.py': 'def add(a, b):\n    return a - b\n',
      'tests/test_add.py': `import unittest
from add import add
class AddTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)
    def test_adds_nothing(self):
        self.assertEqual(add(1, 0), 1)
`,
    },
  },
  {
    check: 'tests-rust',
    tool: 'cargo',
    works: has('cargo', '--version'),
    source: 'src/lib.rs',
    files: {
      'Cargo.toml': '[package]\nname = "add"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': `pub fn add(a: i32, b: i32) -> i32 {
    a - b
}
#[test]
fn adds() { assert_eq!(add(1, 2), 3); }
#[test]
fn adds_nothing() { assert_eq!(add(1, 0), 1); }
`,
    },
  },
  {
    check: 'tests-perl',
    tool: 'perl with prove',
    works: has('prove', '--version'),
    source: 'lib/Add.pm',
    files: {
      'Makefile.PL': 'use ExtUtils::MakeMaker;\n',
      'lib/Add.pm': 'package Add;\nsub add { my ($a, $b) = @_; return $a - $b }\n1;\n',
      't/add.t': `use Test::More tests => 2;
use Add;
is(Add::add(1, 2), 3, 'adds');
is(Add::add(1, 0), 1, 'adds nothing');
`,
    },
  },
  {
    check: 'tests-cmake',
    tool: 'cmake',
    works: has('ctest', '--version') && has('cc', '--version'),
    source: 'add.c',
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.10)
project(add C)
enable_testing()
add_executable(check add.c)
add_test(NAME adds COMMAND check 2 3)
add_test(NAME adds-nothing COMMAND check 0 1)
`,
      'add.c': `#include <stdlib.h>
static int add(int a, int b) { return a - b; }
int main(int argc, char **argv) { return add(1, atoi(argv[argc - 2])) != atoi(argv[argc - 1]); }
`,
    },
  },
];

const HERE = PROJECTS.filter(({ works }) => works);
let bench: Bench;
let end: CliEnd;

// One repository with all of them, and one run: what init writes is only told to count the tests as well.
beforeAll(async () => {
  bench = createBench(
    Object.assign({ '.gitignore': 'target\nbuild\nCargo.lock\n' }, ...HERE.map(({ files }) => files)),
  );
  // The toolchains of this machine's home, which the home of the other tests is not.
  const env = { HOME: process.env['HOME'] };
  await runCli(['init'], bench, { env });
  const policy = bench.read('belay.yml');
  writeFileSync(
    join(bench.ws, 'belay.yml'),
    policy.replaceAll('timeout: 10m', 'timeout: 10m, expect: {tests: not_fewer}'),
  );
  commitAll(bench);
  const command = `sed -i 's/a - b/a + b/; s/$a - $b/$a + $b/' ${HERE.map(({ source }) => source).join(' ')}`;
  const cassette = writeCassette(bench, [
    { tool_calls: [{ name: 'shell', input: { command } }] },
    { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'adds' } }] },
  ]);
  end = await runCli(['run', 'fix it', '--replay', cassette], bench, { env });
}, 180_000);
afterAll(() => bench.remove());

describe('the checks that belay init proposes', () => {
  for (const { check, tool, works } of PROJECTS)
    it.skipIf(!works)(`run in the fence and count tests, red before and green after: ${tool}`, () => {
      expect(end.result?.checks.find(({ name }) => name === check)).toMatchObject({
        baseline: 'failed',
        final: 'passed',
        classification: 'fixed',
        tests: 2,
      });
    });

  it('make the change verified, which is the sources alone', () => {
    expect(end.result).toMatchObject({ outcome: 'verified', evidence: 'fixed' });
    expect(end.result?.changes.files.map(({ path }) => path)).toEqual(HERE.map(({ source }) => source).sort());
  });
});
