import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, inFolder } from './in-folder.ts';
import { CLI, childrenCpuS, measureRun } from './measure-run.ts';
import { median, type Row } from './row.ts';
import type { ScriptedModel } from './scripted-model.ts';

/** A repository with a policy, and the environment of belay in it. */
function inRepository(act: (root: string, env: NodeJS.ProcessEnv) => Row[]): Promise<Row[]> {
  return inFolder((root) => {
    const repository = join(root, 'repository');
    mkdirSync(repository);
    writeFileSync(
      join(repository, 'belay.yml'),
      'version: 1\nverify: {checks: []}\nlimits: {changed_lines: 1000000}\n',
    );
    commitAll(repository);
    return act(root, { PATH: process.env['PATH'], HOME: root });
  });
}

const answers = (...calls: { name: string; input: object }[]) =>
  [...calls, { name: 'finish', input: { status: 'done', summary: 'done' } }]
    .map((call) => `${JSON.stringify({ tool_calls: [call] })}\n`)
    .join('');

/** Peak memory while one command prints a gigabyte, beside a command that prints a line. */
export async function benchOutput(model: ScriptedModel): Promise<Row[]> {
  const small = await measureRun({ model, turns: 1, mode: 'workspace-write' });
  const command = () => 'head -c 1000000000 /dev/zero | tr "\\\\0" "x" | fold -w 120';
  const large = await measureRun({ model, turns: 1, mode: 'workspace-write', command });
  return [
    {
      name: 'peak memory while a command prints 1 GB',
      value: large.peakMb,
      unit: 'MB',
      against: { name: 'a command that prints a line', value: small.peakMb },
    },
  ];
}

/** A patch of one line in a file of 10 MB, as a run of its own, less the same run without the patch. */
export function benchPatch(): Promise<Row[]> {
  return inRepository((root, env) => {
    const repository = join(root, 'repository');
    const lines = Array.from(
      { length: 200_000 },
      (_, at) => `line ${at} of a file that is rather long, as generated code is\n`,
    );
    writeFileSync(join(repository, 'big.txt'), lines.join(''));
    const patch = `*** Begin Patch\n*** Update File: big.txt\n@@\n ${lines[150_000]}-${lines[150_001]}+changed\n ${lines[150_002]}*** End Patch\n`;
    const time = (cassette: string): number => {
      writeFileSync(join(root, 'model.jsonl'), cassette);
      const times = [1, 2, 3].map(() => {
        writeFileSync(join(repository, 'big.txt'), lines.join(''));
        const start = performance.now();
        const args = [
          CLI,
          'run',
          'patch',
          '--replay',
          join(root, 'model.jsonl'),
          '--format',
          'quiet',
          '--model',
          'openai/gpt-5',
        ];
        const end = spawnSync(process.execPath, args, { cwd: repository, env });
        if (end.status !== 0) throw new Error(`the run ended with ${end.status}: ${end.stderr}`);
        return performance.now() - start;
      });
      return median(times);
    };
    const without = time(answers());
    return [
      {
        name: 'apply_patch in a file of 12 MB, snapshot and diff included',
        value: time(answers({ name: 'apply_patch', input: { patch } })) - without,
        unit: 'ms',
        against: { name: 'the run without it', value: without },
      },
    ];
  });
}

/** Many small jobs from cassettes, two at a time. */
export function benchBatch(jobs: number): Promise<Row[]> {
  return inRepository((root, env) => {
    const repository = join(root, 'repository');
    writeFileSync(join(root, 'model.jsonl'), answers({ name: 'write_file', input: { path: 'a.txt', content: 'a\n' } }));
    const lines = Array.from(
      { length: jobs },
      (_, at) => `${JSON.stringify({ id: `job-${at}`, goal: 'write a.txt' })}\n`,
    );
    writeFileSync(join(root, 'jobs.jsonl'), lines.join(''));
    const args = [
      CLI,
      'batch',
      join(root, 'jobs.jsonl'),
      '--concurrency',
      '2',
      '--replay',
      join(root, 'model.jsonl'),
      '--format',
      'quiet',
    ];
    const cpu = childrenCpuS();
    const start = performance.now();
    const end = spawnSync(process.execPath, args, { cwd: repository, env, maxBuffer: 1024 ** 3 });
    if (end.status !== 0) throw new Error(`the batch ended with ${end.status}: ${end.stderr}`);
    return [
      { name: `a job of a batch of ${jobs}, two at a time`, value: (performance.now() - start) / jobs, unit: 'ms' },
      { name: `CPU of a job of it`, value: (childrenCpuS() - cpu) / jobs, unit: 's CPU' },
    ];
  });
}
