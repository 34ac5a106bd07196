import type { FileHandle } from 'node:fs/promises';

/** What of a file is wanted: lines `offset` (1-based) and on, bounded in every way. */
export interface WindowRequest {
  offset: number;
  limit: number;
  maxBytes: number;
  maxLineBytes: number;
  /** Beyond this many bytes of file the lines are no longer counted. */
  maxCountedBytes: number;
}

export interface LineWindow {
  /** Without line ends; a cut line ends with a note of its size. */
  lines: readonly string[];
  /** null: not counted to the end. */
  totalLines: number | null;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

/** Reads a window of lines as a stream: memory stays small however large the file or a line is. */
export async function readLineWindow(
  handle: FileHandle,
  request: WindowRequest,
  signal: AbortSignal,
): Promise<LineWindow> {
  const collector = createCollector(request);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let position = 0;
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return collector.end(true);
    position += bytesRead;
    collector.take(chunk.subarray(0, bytesRead));
    if (signal.aborted || (collector.isFull() && position > request.maxCountedBytes)) return collector.end(false);
  }
}

function createCollector(request: WindowRequest) {
  const lines: string[] = [];
  let line = 1;
  let lineBytes = 0;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let windowBytes = 0;
  let full = false;

  const isWanted = (): boolean => !full && line >= request.offset;
  const takePiece = (piece: Buffer): void => {
    lineBytes += piece.length;
    if (!isWanted() || keptBytes >= request.maxLineBytes) return;
    const part = Buffer.from(piece.subarray(0, request.maxLineBytes - keptBytes));
    kept.push(part);
    keptBytes += part.length;
  };
  const endLine = (): void => {
    if (isWanted()) {
      const text = lineText(Buffer.concat(kept), { line, lineBytes });
      const bytes = Buffer.byteLength(text) + 1;
      if (lines.length > 0 && windowBytes + bytes > request.maxBytes) full = true;
      else {
        lines.push(text);
        windowBytes += bytes;
        full = lines.length >= request.limit;
      }
    }
    line += 1;
    lineBytes = 0;
    kept = [];
    keptBytes = 0;
  };

  return {
    isFull: () => full,
    take(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        takePiece(chunk.subarray(from, at));
        endLine();
        from = at + 1;
      }
      if (from < chunk.length) takePiece(chunk.subarray(from));
    },
    end(isComplete: boolean): LineWindow {
      if (isComplete && lineBytes > 0) endLine();
      return { lines, totalLines: isComplete ? line - 1 : null };
    },
  };
}

function lineText(bytes: Buffer, { line, lineBytes }: { line: number; lineBytes: number }): string {
  const isCut = bytes.length < lineBytes;
  const text = bytes.toString('utf8').replace(line === 1 ? /^\ufeff/u : /^$/u, '');
  const plain = (isCut ? text.replace(/\ufffd+$/u, '') : text.replace(/\r$/u, '')).replaceAll('\0', '\ufffd');
  return isCut ? `${plain}… [cut: the line has ${lineBytes} bytes]` : plain;
}
