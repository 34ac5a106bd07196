const SIGNATURES: readonly { kind: string; bytes: readonly number[] }[] = [
  { kind: 'PNG image', bytes: [0x89, 0x50, 0x4e, 0x47] },
  { kind: 'JPEG image', bytes: [0xff, 0xd8, 0xff] },
  { kind: 'GIF image', bytes: [0x47, 0x49, 0x46, 0x38] },
  { kind: 'ZIP archive', bytes: [0x50, 0x4b, 0x03, 0x04] },
  { kind: 'gzip data', bytes: [0x1f, 0x8b] },
  { kind: 'PDF document', bytes: [0x25, 0x50, 0x44, 0x46] },
  { kind: 'ELF program', bytes: [0x7f, 0x45, 0x4c, 0x46] },
  { kind: 'WebAssembly module', bytes: [0x00, 0x61, 0x73, 0x6d] },
  { kind: 'SQLite database', bytes: [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65] },
  { kind: 'UTF-16 text', bytes: [0xff, 0xfe] },
  { kind: 'UTF-16 text', bytes: [0xfe, 0xff] },
];

/** As git does: a NUL in the first 8,000 bytes makes a file binary. */
const SNIFFED_BYTES = 8000;

/** What a binary file seems to be, from its first bytes; null: it is text. */
export function binaryKind(head: Buffer): string | null {
  if (!head.subarray(0, SNIFFED_BYTES).includes(0)) return null;
  const found = SIGNATURES.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte));
  return found?.kind ?? 'binary file';
}
