import { appendFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { BatchSink } from '../batch/index.ts';
import { codeOf, UsageError } from '../errors.ts';
import { type BatchEvent, JobId, readEvents, readJsonLines } from '../events/index.ts';
import {
  attachPatch,
  foldBatch,
  foldReport,
  renderBatchHtml,
  renderBatchMarkdown,
  renderHtml,
} from '../report/index.ts';
import type { Io } from './command.ts';
import { loadPatch } from './load-patch.ts';
import { print } from './print.ts';
import { createRunLines, RunId, type RunLines } from './run-lines.ts';

/** `--reports DIR`: `index.html` and `index.md` for the batch, `jobs/ID.RUN.html` for every run of it. */
export interface ReportFolder {
  /** Takes the lines as they come; pages are made beside, so that no line waits for one. */
  readonly sink: BatchSink;
  /** Resolves when the pages are there. Throws what the disk says. */
  finish(): Promise<void>;
  /** Removes what waits for its pages, for a process that ends before. */
  discard(): Promise<void>;
}

type JobCompleted = Extract<BatchEvent, { type: 'job.completed' }>;

const MOST_LINE_BYTES = 8 * 1024 * 1024;
export const patchesIn = (dir: string) => join(dir, 'patches');

/** Pages that are there already stay: in a merge, they are those that the shards made. */
async function openReportFolder(dir: string): Promise<ReportFolder> {
  const pages = join(dir, 'jobs');
  await mkdir(pages, { recursive: true });
  const lines = createRunLines();
  const there = new Set(await readdir(pages));
  let work: Promise<void> = Promise.resolve();
  let failure: unknown = null;
  // `finish` tells of it, once; until then the batch goes on without pages.
  const keepFailure = (error: unknown) => {
    failure ??= error;
  };
  const site = { dir, pages, there, lines };
  return {
    sink: {
      writeRun: (line) => lines.add(line).catch(keepFailure),
      async writeBatch(line, event) {
        await lines
          .own()
          .then((path) => appendFile(path, `${line}\n`))
          .catch(keepFailure);
        if (event.type !== 'job.completed') return;
        work = work.then(() => makePages(event, site));
        // What goes wrong is told by `finish`.
        work.catch(() => undefined);
      },
      close: async () => undefined,
    },
    discard: () => lines.close(),
    async finish() {
      try {
        await work;
        if (failure !== null) throw failure;
        const view = await foldBatch(readJsonLines(await lines.own(), { maxLineBytes: MOST_LINE_BYTES }), '');
        const pageOf = (jobId: string, runId: string) => {
          const name = pageName(jobId, runId);
          return name !== null && there.has(name) ? `jobs/${name}` : null;
        };
        await writeWhole(join(dir, 'index.html'), renderBatchHtml(view, pageOf));
        await writeWhole(join(dir, 'index.md'), renderBatchMarkdown(view));
      } finally {
        await lines.close();
      }
    },
  };
}

/** Opens the folder of `--reports`. Throws UsageError where nothing can be written. */
export async function openReports(dir: string): Promise<ReportFolder> {
  try {
    return await openReportFolder(dir);
  } catch (error) {
    if (codeOf(error) === null) throw error;
    throw new UsageError(`--reports: cannot write to ${dir} (${codeOf(error)})`, { cause: error });
  }
}

/** The verdict stands where its pages cannot be written; that they are missing is said. */
export async function finishReports(
  reports: ReportFolder | null,
  { code, io }: { code: number; io: Pick<Io, 'stderr'> },
): Promise<number> {
  try {
    await reports?.finish();
  } catch (error) {
    if (!(error instanceof Error) || codeOf(error) === null) throw error;
    await print(io.stderr, `belay: --reports: the pages are not whole: ${error.message}\n`);
  }
  return code;
}

interface Site {
  dir: string;
  pages: string;
  there: Set<string>;
  lines: RunLines;
}

/** Both parts are checked: they come from files of other machines. */
function pageName(jobId: string, runId: string): string | null {
  return JobId.safeParse(jobId).success && RunId.safeParse(runId).success ? `${jobId}.${runId}.html` : null;
}

async function makePages({ job_id, result, runs }: JobCompleted, { dir, pages, there, lines }: Site): Promise<void> {
  for (const runId of new Set([result.run_id, ...(runs ?? []).map((run) => run.run_id)])) {
    const name = pageName(job_id, runId);
    const file = name === null || there.has(name) ? null : await lines.read(runId);
    if (name !== null && file !== null) {
      await writeWhole(join(pages, name), await renderRun(file, { dir, source: `${job_id}, run ${runId}` }));
      there.add(name);
    }
    await lines.forget(runId);
  }
}

/** With its diff, where the patch is one of this folder or where the log says that it is, and is the one that was checked. */
async function renderRun(file: string, { dir, source }: { dir: string; source: string }): Promise<string> {
  const view = await foldReport(readEvents(file), { source });
  const named = view.result?.changes.patch ?? null;
  if (named === null) return renderHtml(view);
  for (const path of [join(patchesIn(dir), basename(named)), named]) {
    const patch = await loadPatch(path);
    const shown = patch === null ? view : attachPatch(view, patch);
    if (shown.patch !== null) return renderHtml(shown);
  }
  return renderHtml(view);
}

/** A kill leaves no half of a page: it would be taken for a whole one. */
async function writeWhole(path: string, text: string): Promise<void> {
  const next = `${path}.new`;
  await writeFile(next, text);
  await rename(next, path);
}
