import type { KeptText } from '../context/index.ts';
import type { LoopPorts } from './ports.ts';

/** Keeps texts for `read_output`, redacted, one after the other in one output. null: empty, or no room for it. */
export async function keepTexts(
  texts: readonly string[],
  ports: Pick<LoopPorts, 'redactStream' | 'openOutput'>,
): Promise<(KeptText | null)[]> {
  const none = texts.map(() => null);
  if (texts.every((text) => text === '')) return none;
  const writer = await ports.openOutput();
  if (writer === null) return none;
  const ranges: { offset: number; bytes: number }[] = [];
  let offset = 0;
  for (const text of texts) {
    // Redacted here: the offsets have to be those of what is stored.
    const redactor = ports.redactStream();
    const bytes = Buffer.concat([redactor.push(Buffer.from(text)), redactor.end()]);
    await writer.write(bytes);
    ranges.push({ offset, bytes: bytes.length });
    offset += bytes.length;
  }
  const { id, totalBytes, storedBytes = totalBytes } = await writer.end();
  return ranges.map(({ offset: at, bytes }) =>
    bytes === 0 || at + bytes > storedBytes ? null : { outputId: id, offset: at, bytes },
  );
}
