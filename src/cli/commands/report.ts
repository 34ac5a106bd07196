import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { oneLine, readEvents } from '../../events/index.ts';
import {
  attachPatch,
  type BatchView,
  foldReport,
  type ReportView,
  renderAttestation,
  renderBatchHtml,
  renderBatchMarkdown,
  renderComparisonHtml,
  renderComparisonMarkdown,
  renderHtml,
  renderJunit,
  renderMarkdown,
  renderSarif,
} from '../../report/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { loadBatchView } from '../load-batch-view.ts';
import { loadPatch } from '../load-patch.ts';
import { namesThread, openNamedThread } from '../named-thread.ts';
import { requireWritable } from '../output-file.ts';
import { print } from '../print.ts';
import { textOf } from '../read-options.ts';
import { requireReadable } from './audit.ts';

const RENDERERS = {
  html: renderHtml,
  markdown: (view: ReportView) => renderMarkdown(view),
  junit: renderJunit,
  sarif: renderSarif,
  attestation: renderAttestation,
} as const;
type Format = keyof typeof RENDERERS;

const BY_EXTENSION: readonly (readonly [string, Format])[] = [
  ['.html', 'html'],
  ['.md', 'markdown'],
  ['.xml', 'junit'],
  ['.sarif', 'sarif'],
  ['.sarif.json', 'sarif'],
  ['.intoto.json', 'attestation'],
];

async function loadView(source: string, { io }: Invocation): Promise<ReportView> {
  const path = resolve(io.cwd(), source);
  const thread = await openNamedThread(source, io);
  if (thread !== null) return foldReport(thread.readEvents(), { source, severalRuns: true });
  if (source !== '-') await requireReadable(path);
  return foldReport(readEvents(source === '-' ? io.stdin : path), { source });
}

/** `belay report`: a fold over the log. A broken or cut-off log is shown for what it is; one without any event is bad usage. */
export const reportRun: Handler = async (invocation) => {
  const { io, options, words } = invocation;
  const source = words[0] ?? '';
  const file = textOf(options, 'output');
  const path = file === null ? null : resolve(io.cwd(), file);
  if (path !== null) await requireWritable('--output', path);
  const format = formatOf(textOf(options, 'format'), file);
  const text = (await renderBatches(source, format, invocation)) ?? (await renderRun(source, format, invocation));
  if (path === null) await print(io.stdout, text);
  else await writeFile(path, text);
  return 0;
};

/** A batch, or two of them; null where the source is a run. */
async function renderBatches(source: string, format: Format, { io, options }: Invocation): Promise<string | null> {
  const load = async (name: string): Promise<BatchView | null> => {
    const path = resolve(io.cwd(), name);
    if (name === '-' || namesThread(name)) return null;
    await requireReadable(path);
    const view = await loadBatchView(path, name);
    for (const { line, reason } of view?.faults.slice(0, 1) ?? [])
      await print(
        io.stderr,
        `belay: ${oneLine(name)}:${line}: the log is broken: ${oneLine(reason)}; the report says so\n`,
      );
    return view;
  };
  const first = textOf(options, 'compare');
  const view = await load(source);
  if (view === null && first === null) return null;
  if (format !== 'html' && format !== 'markdown')
    throw new UsageError(`--format ${format} is for one run; a batch has html and markdown`);
  if (first === null)
    return view === null ? null : format === 'html' ? renderBatchHtml(view) : renderBatchMarkdown(view);
  const before = await load(first);
  if (before === null || view === null)
    throw new UsageError(`--compare needs two batches: ${oneLine(before === null ? first : source)} is none`);
  return format === 'html' ? renderComparisonHtml(before, view) : renderComparisonMarkdown(before, view);
}

async function renderRun(source: string, format: Format, invocation: Invocation): Promise<string> {
  const { io } = invocation;
  const view = await loadView(source, invocation);
  const [fault] = view.log.faults;
  if (view.log.events === 0)
    throw new UsageError(
      `${oneLine(source)}:${fault?.line ?? 1}: there is no event in it: ${fault?.reason ?? 'it is empty'}`,
    );
  if (fault !== undefined)
    await print(
      io.stderr,
      `belay: ${oneLine(source)}:${fault.line}: the log is broken: ${oneLine(fault.reason)}; the report says so\n`,
    );
  return RENDERERS[format](format === 'html' ? await withPatch(view, invocation) : view);
}

/** The diff, from `--patch` or from where the log says that it was written, if it is still there and the same. */
async function withPatch(view: ReportView, { io, options }: Invocation): Promise<ReportView> {
  const given = textOf(options, 'patch');
  const path = given ?? view.result?.changes.patch ?? null;
  if (path === null) return view;
  const bytes = await loadPatch(resolve(io.cwd(), path));
  if (bytes === null && given !== null)
    throw new UsageError(`--patch: cannot read ${oneLine(given)} as a patch of at most 16 MiB`);
  const shown = bytes === null ? view : attachPatch(view, bytes);
  if (given !== null && shown.patch === null)
    throw new UsageError(`--patch: ${oneLine(given)} is not the patch of this run`);
  return shown;
}

function formatOf(given: string | null, file: string | null): Format {
  const named = Object.keys(RENDERERS).find((name): name is Format => name === given);
  return named ?? BY_EXTENSION.find(([extension]) => file?.endsWith(extension))?.[1] ?? 'markdown';
}
