import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import glob from 'fast-glob';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { lintWorkflow } from './lint-workflow.ts';

const ROOT = join(import.meta.dirname, '../..');
const files = glob.sync(['.github/workflows/*.yml', 'examples/workflows/*.yml'], { cwd: ROOT, dot: true }).sort();
const hasShellcheck = spawnSync('shellcheck', ['--version']).error === undefined;

const Step = z.looseObject({ run: z.string().optional(), uses: z.string().optional() });
const Workflow = z.looseObject({
  permissions: z.unknown(),
  jobs: z.record(z.string(), z.looseObject({ steps: z.array(Step).default([]) })),
});
const Action = z.looseObject({ runs: z.looseObject({ steps: z.array(Step) }) });

const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
function stepsOf(file: string) {
  const document: unknown = parse(textOf(file));
  const jobs = file === 'action.yml' ? [Action.parse(document).runs] : Object.values(Workflow.parse(document).jobs);
  return jobs.flatMap((job) => job.steps);
}

describe.each(files)('%s', (file) => {
  it('has nothing that actionlint finds', async () => {
    expect(await lintWorkflow(join(ROOT, file))).toEqual([]);
  });

  it('gives no permission to a job that does not ask for it', () => {
    expect(Workflow.parse(parse(textOf(file))).permissions).toEqual({});
  });
});

describe.each(files.filter((file) => file.startsWith('examples/')))('a copy of %s', (file) => {
  it('is one command of the docs away from running, and has nothing that actionlint finds', async () => {
    const docs = textOf('docs/github-actions.md');
    const recipe = /^ +(sed .*\$FROM.*\$TO.*)$/m.exec(docs)?.[1] ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'belay-copy-'));
    try {
      const copy = join(folder, 'copy.yml');
      const commit = '0123456789abcdef0123456789abcdef01234567';
      const env = { ...process.env, COPY: 'acme/belay', COMMIT: commit, FROM: join(ROOT, file), TO: copy };
      expect(spawnSync('bash', ['-c', recipe], { env, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
      const text = readFileSync(copy, 'utf8');
      expect(text.match(/uses: acme\/belay@[0-9a-f]{40} /g)?.length).toBe(textOf(file).match(/uses: OWNER/g)?.length);
      expect(text).not.toMatch(/uses: OWNER|@0{40}/);
      expect(await lintWorkflow(copy)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe.each([...files, ...glob.sync('action.yml', { cwd: ROOT })])('%s', (file) => {
  it('names every action by a commit, with its version beside it', () => {
    const uses = textOf(file)
      .split('\n')
      .filter((line) => /^\s*(- )?uses:/.test(line));
    expect(uses.filter((line) => !/uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # \S/.test(line))).toEqual([]);
  });

  it('puts no expression into a script', () => {
    expect(stepsOf(file).filter((step) => step.run?.includes('${{'))).toEqual([]);
  });

  it.skipIf(!hasShellcheck)('has scripts that shellcheck accepts', () => {
    const findings = stepsOf(file).flatMap(({ run }) => {
      if (run === undefined) return [];
      const { stdout } = spawnSync('shellcheck', ['--shell=bash', '--format=gcc', '-'], {
        input: run,
        encoding: 'utf8',
      });
      return stdout === '' ? [] : [`${relative(ROOT, file)}: ${stdout}`];
    });
    expect(findings).toEqual([]);
  });
});

describe.skipIf(!hasShellcheck)('scripts of the action', () => {
  it.each(glob.sync(['scripts/action/*.sh', 'examples/**/*.sh'], { cwd: ROOT, ignore: ['examples/*/input/**'] }))(
    '%s is accepted by shellcheck',
    (file) => {
      expect(spawnSync('shellcheck', ['--format=gcc', join(ROOT, file)], { encoding: 'utf8' }).stdout).toBe('');
    },
  );
});
