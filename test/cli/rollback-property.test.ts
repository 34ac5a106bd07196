import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { commitAll, createBench, runCli, treeOf, writeCassette } from '../scenario.ts';

const PATHS = ['a', 'b', 'd', 'd/x', 'd/e', 'd/e/z', './-dash', 'sp ace', "qu'ote", 'ü', 'tab\t'];
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Makes room for a path: what stands in the place of its folders, or in its own, goes. */
function clear(path: string): string {
  const folders = [];
  for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.unshift(quoted(at));
  const steps = folders.map(
    (folder) => `if [ -L ${folder} ] || ! [ -d ${folder} ]; then rm -rf ${folder}; mkdir ${folder}; fi`,
  );
  return [...steps, `rm -rf ${quoted(path)}`].join('; ');
}

const path = fc.constantFrom(...PATHS);
const deed = fc.oneof(
  fc.tuple(path, fc.nat(3)).map(([at, n]) => `${clear(at)}; echo ${n} > ${quoted(at)}`),
  fc.tuple(path, fc.nat(3)).map(([at, n]) => `${clear(at)}; printf '\\000\\377\\r\\n\\20${n}' > ${quoted(at)}`),
  fc.tuple(path, fc.nat(3)).map(([at, n]) => `${clear(at)}; echo ${n} > ${quoted(at)}; chmod 755 ${quoted(at)}`),
  fc
    .tuple(path, fc.constantFrom('a', 'd', '../gone', '/nowhere'))
    .map(([at, to]) => `${clear(at)}; ln -s ${to} ${quoted(at)}`),
  path.map((at) => `rm -rf ${quoted(at)}`),
  path.map((at) => `if [ -f ${quoted(at)} ] && ! [ -L ${quoted(at)} ]; then chmod 644 ${quoted(at)}; fi`),
);
const TURNS = 30;
const JUMPS = 14;

it('whatever the turns did to the tree, belay thread rollback brings back the tree of any of them', async () => {
  const options = { seed: 4712, numRuns: 1 };
  const [scripts = []] = fc.sample(
    fc.array(fc.array(deed, { minLength: 1, maxLength: 4 }), { minLength: TURNS, maxLength: TURNS }),
    options,
  );
  const [order = []] = fc.sample(
    fc.shuffledSubarray([...scripts.keys()], { minLength: JUMPS, maxLength: JUMPS }),
    options,
  );
  const policy = { version: 1, limits: { turns: 2 * TURNS, repeats: TURNS }, verify: { checks: [] } };
  const bench = createBench({ a: 'first\n', 'belay.yml': JSON.stringify(policy) });
  onTestFinished(() => bench.remove());
  commitAll(bench);

  // The same scripts without belay.
  const plain = join(bench.root, 'plain');
  mkdirSync(plain);
  execFileSync('cp', ['-a', 'a', 'belay.yml', plain], { cwd: bench.ws });
  const trees = [treeOf(plain)];
  for (const script of scripts) {
    execFileSync('bash', ['-c', script.join('\n')], { cwd: plain });
    trees.push(treeOf(plain));
  }
  const answers = scripts.map((script) => ({ tool_calls: [{ name: 'shell', input: { command: script.join('\n') } }] }));
  const finish = { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'done' } }] };
  const end = await runCli(['run', 'go', '--replay', writeCassette(bench, [...answers, finish])], bench);
  const id = end.result?.thread_id ?? '';
  expect([end.result?.outcome, treeOf(bench.ws)]).toEqual(['unchecked', trees.at(-1)]);
  for (const turn of [...order, 0, TURNS]) {
    const { code, stderr } = await runCli(['thread', 'rollback', id, '--to-turn', String(turn)], bench);
    expect({ turn, code, stderr, tree: treeOf(bench.ws) }).toMatchObject({ turn, code: 0, tree: trees[turn] });
    expect({ turn, names: Object.keys(treeOf(bench.ws)) }).toEqual({ turn, names: Object.keys(trees[turn] ?? {}) });
  }
}, 180_000);
