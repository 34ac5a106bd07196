import { type BoundedText, createHeadTailBuffer } from '../context/index.ts';
import type { OutputSink } from '../tools/index.ts';
import type { LoopPorts } from './ports.ts';

export interface CallOutput extends OutputSink {
  /** Ends the output: bounded for the model, whole under `outputId` (null when nothing was left out or nothing is kept). */
  end(): Promise<BoundedText & { outputId: string | null }>;
}

/**
 * One call's output: redacted first, then kept whole on disk and bounded in memory. The file is opened only once the
 * output outgrows what the model sees, so that small outputs cost nothing.
 */
export function createCallOutput(ports: Pick<LoopPorts, 'redactStream' | 'openOutput' | 'limits'>): CallOutput {
  const bounded = createHeadTailBuffer(ports.limits.outputBytes);
  const redactor = ports.redactStream();
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let writer: Awaited<ReturnType<LoopPorts['openOutput']>> | undefined;
  let last: Promise<void> = Promise.resolve();

  async function keep(bytes: Buffer): Promise<void> {
    bounded.write(bytes);
    if (writer === null) return;
    if (writer === undefined) {
      pending.push(Buffer.from(bytes));
      pendingBytes += bytes.length;
      if (pendingBytes <= ports.limits.outputBytes) return;
      writer = await ports.openOutput();
      const all = Buffer.concat(pending);
      pending = [];
      await writer?.write(all);
      return;
    }
    await writer.write(bytes);
  }

  return {
    write(chunk) {
      const bytes = redactor.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      if (bytes.length === 0) return last;
      last = last.then(() => keep(bytes));
      return last;
    },
    async end() {
      const rest = redactor.end();
      await last;
      if (rest.length > 0) await keep(rest);
      const record = writer ? await writer.end() : null;
      const text = bounded.read((omission) =>
        record === null
          ? `\n[… ${omission.omitted_bytes} bytes left out here]\n`
          : `\n[… ${omission.omitted_bytes} bytes left out here; read_output output_id=${record.id} offset=${omission.omitted_from}]\n`,
      );
      return { ...text, outputId: text.omission === null ? null : (record?.id ?? null) };
    },
  };
}
