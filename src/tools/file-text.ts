import { isUtf8 } from 'node:buffer';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** The lines of a file such that rendering them gives the same bytes again, whatever the file's line ends and encoding. */
export interface FileText {
  hasBom: boolean;
  /** `latin1` stands for any bytes that are not UTF-8: a character is a byte there. */
  encoding: 'utf8' | 'latin1';
  /** `\r` only in files that have no `\n` at all. */
  separator: '\n' | '\r';
  /** Without separators; lines of CRLF files keep their `\r`. */
  lines: readonly string[];
  endsWithNewline: boolean;
}

/** Text files have no NUL bytes. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.includes(0);
}

export function parseFileText(bytes: Buffer): FileText {
  const hasBom = bytes.subarray(0, BOM.length).equals(BOM);
  const body = hasBom ? bytes.subarray(BOM.length) : bytes;
  const encoding = isUtf8(body) ? 'utf8' : 'latin1';
  const text = body.toString(encoding);
  const separator = !text.includes('\n') && text.includes('\r') ? '\r' : '\n';
  const lines = text.split(separator);
  const endsWithNewline = lines.at(-1) === '';
  if (endsWithNewline) lines.pop();
  return { hasBom, encoding, separator, lines, endsWithNewline };
}

export function renderFileText(file: FileText): Buffer {
  const text = file.lines.join(file.separator) + (file.endsWithNewline && file.lines.length > 0 ? file.separator : '');
  const body = Buffer.from(file.hasBom && text.startsWith('\ufeff') ? text.slice(1) : text, file.encoding);
  return file.hasBom ? Buffer.concat([BOM, body]) : body;
}

/** Text from the model as it stands among the lines of that file. */
export function encodedFor(file: FileText, text: string): string {
  return file.encoding === 'utf8' ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** For messages: a line of that file as text. */
export function decodedFrom(file: FileText, line: string): string {
  const plain = line.endsWith('\r') ? line.slice(0, -1) : line;
  return file.encoding === 'utf8' ? plain : Buffer.from(plain, 'latin1').toString('utf8');
}

/**
 * The `\r` (or nothing) that a line inserted before line `index` ends with: that of its neighbours, the one above first.
 * A last line without a newline says nothing, so its own neighbour is asked.
 */
export function carriageReturnAt(file: FileText, index: number): '' | '\r' {
  const terminated = file.endsWithNewline ? file.lines.length : file.lines.length - 1;
  if (terminated <= 0) return '';
  const neighbour = file.lines[Math.min(Math.max(index - 1, 0), terminated - 1)];
  return neighbour?.endsWith('\r') ? '\r' : '';
}
