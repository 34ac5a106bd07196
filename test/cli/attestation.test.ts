import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';

const hex = (characters: number) => z.string().regex(new RegExp(`^[0-9a-f]{${characters}}$`));
const Sha256 = z.strictObject({ digest: z.strictObject({ sha256: hex(64) }) });
/** A Statement as in-toto's version 1 has it, and the predicate with nothing left out. */
const Statement = z.strictObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z
    .array(z.strictObject({ name: z.string().min(1), digest: z.record(z.string(), z.string().regex(/^[0-9a-f]+$/)) }))
    .min(1),
  predicateType: z.literal('urn:belay:attestation:run:v1'),
  predicate: z.looseObject({
    belay: z.strictObject({ version: z.string(), sources: Sha256 }),
    goal: Sha256,
    policy: z.looseObject(Sha256.shape),
    model: z.looseObject({ provider: z.string(), name: z.string() }),
    sandbox: z.looseObject({ tier: z.string(), network: z.string() }),
    checks: z.array(z.looseObject({ name: z.string(), command: z.string(), output: Sha256 })).min(1),
    log: z.looseObject(Sha256.shape),
    base: z.looseObject({ digest: z.strictObject({ gitCommit: hex(40) }) }),
  }),
});

let bench: Bench;
const at = (name: string) => join(bench.io, name);
beforeAll(() => {
  bench = createBench({
    'belay.yml': JSON.stringify({ version: 1, verify: { checks: [{ name: 'good', run: 'grep good a.txt' }] } }),
    'a.txt': 'bad\n',
  });
  commitAll(bench);
});
afterAll(() => bench.remove());

it('an attestation names patch, tree, goal, policy, checks, model, sandbox and belay by digests that others can make', async () => {
  const answers = [
    { tool_calls: [{ name: 'shell', input: { command: 'echo good > a.txt' } }] },
    { tool_calls: [{ name: 'finish', input: { status: 'done', summary: 'mended' } }] },
  ];
  writeFileSync(at('model.jsonl'), answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
  const files = ['--events', at('events.jsonl'), '--patch', at('change.patch'), '--result', at('result.json')];
  const { code, stderr } = await runCli(['run', 'mend a.txt', '--replay', at('model.jsonl'), ...files], bench);
  expect(code, stderr).toBe(0);
  expect((await runCli(['report', at('events.jsonl'), '-o', at('run.intoto.json')], bench)).code).toBe(0);
  const { subject, predicate } = Statement.parse(JSON.parse(readFileSync(at('run.intoto.json'), 'utf8')));

  const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
  bench.git('add', '-A');
  expect(subject).toEqual([
    { name: 'change.patch', digest: { sha256: sha256(readFileSync(at('change.patch'))) } },
    { name: 'tree', digest: { gitTree: bench.git('write-tree').trim() } },
  ]);
  const log = readFileSync(at('events.jsonl'), 'utf8').trimEnd().split('\n');
  expect(predicate).toMatchObject({
    goal: { digest: { sha256: sha256('mend a.txt') } },
    policy: { digest: { sha256: sha256(bench.read('belay.yml')) } },
    log: { digest: { sha256: sha256(log.at(-1) ?? '') } },
    checks: [{ name: 'good', output: { digest: { sha256: sha256('good\n') } } }],
  });

  // The recipe of docs/reports.md.
  const root = join(import.meta.dirname, '../..');
  const recipe = /^ {4}(find src .*sha256sum)$/m.exec(readFileSync(join(root, 'docs/reports.md'), 'utf8'))?.[1] ?? '';
  const made = execFileSync('bash', ['-c', recipe], { cwd: root, encoding: 'utf8' });
  expect(made.split(' ')[0]).toBe(predicate.belay.sources.digest.sha256);
});
