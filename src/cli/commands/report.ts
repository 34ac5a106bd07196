import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { oneLine, readEvents } from '../../events/index.ts';
import {
  foldReport,
  type ReportView,
  renderAttestation,
  renderJunit,
  renderMarkdown,
  renderSarif,
} from '../../report/index.ts';
import { openThread, stateFolder } from '../../thread/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { requireParentFolder } from '../output-file.ts';
import { print } from '../print.ts';
import { textOf } from '../read-options.ts';
import { requireReadable } from './audit.ts';

const RENDERERS = {
  markdown: (view: ReportView) => renderMarkdown(view),
  junit: renderJunit,
  sarif: renderSarif,
  attestation: renderAttestation,
} as const;
type Format = keyof typeof RENDERERS;

const BY_EXTENSION: readonly (readonly [string, Format])[] = [
  ['.md', 'markdown'],
  ['.xml', 'junit'],
  ['.sarif', 'sarif'],
  ['.sarif.json', 'sarif'],
  ['.intoto.json', 'attestation'],
];

async function loadView(source: string, { io }: Invocation): Promise<ReportView> {
  const path = resolve(io.cwd(), source);
  const isThread = /^t_[\w-]+$/.test(source);
  if (isThread) {
    const thread = await openThread(stateFolder(io.env), source);
    return foldReport(thread.readEvents(), { source, severalRuns: true });
  }
  if (source !== '-') await requireReadable(path);
  return foldReport(readEvents(source === '-' ? io.stdin : path), { source });
}

/** `belay report`: a fold over the log. A broken or cut-off log is shown for what it is; one without any event is bad usage. */
export const reportRun: Handler = async (invocation) => {
  const { io, options, words } = invocation;
  const source = words[0] ?? '';
  const file = textOf(options, 'output');
  const path = file === null ? null : resolve(io.cwd(), file);
  if (path !== null) await requireParentFolder('--output', path);
  const format = formatOf(textOf(options, 'format'), file);
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
  const text = RENDERERS[format](view);
  if (path === null) await print(io.stdout, text);
  else await writeFile(path, text);
  return 0;
};

function formatOf(given: string | null, file: string | null): Format {
  const named = Object.keys(RENDERERS).find((name): name is Format => name === given);
  return named ?? BY_EXTENSION.find(([extension]) => file?.endsWith(extension))?.[1] ?? 'markdown';
}
