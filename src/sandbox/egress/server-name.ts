/** What the first bytes of a connection say about the server that the client wants. */
export type Greeting =
  | { kind: 'incomplete' }
  /** Another protocol, or one that does not begin as TLS does. */
  | { kind: 'other' }
  /** A TLS ClientHello; `serverName` is null when it names none. */
  | { kind: 'tls'; serverName: string | null };

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
const MOST_RECORD_BYTES = 2 ** 14;

/** Reads the server name of a ClientHello (RFC 8446 4.1.2, RFC 6066 3), which may lie in several records. */
export function readServerName(bytes: Buffer): Greeting {
  if (bytes.length === 0) return { kind: 'incomplete' };
  if (bytes[0] !== HANDSHAKE_RECORD || (bytes.length > 1 && bytes[1] !== 3)) return { kind: 'other' };
  const parts: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== HANDSHAKE_RECORD || length === 0 || length > MOST_RECORD_BYTES) return { kind: 'other' };
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  const message = Buffer.concat(parts);
  if (message.length > 0 && message[0] !== CLIENT_HELLO) return { kind: 'other' };
  if (message.length < 4 || message.length < 4 + message.readUIntBE(1, 3)) return { kind: 'incomplete' };
  return { kind: 'tls', serverName: serverNameOf(message.subarray(4, 4 + message.readUIntBE(1, 3))) };
}

/** Version and random; session id; cipher suites; compression methods; then the extensions. */
function serverNameOf(hello: Buffer): string | null {
  let rest = hello.subarray(34);
  for (const lengthBytes of [1, 2, 1]) rest = take(rest, lengthBytes).rest;
  for (let left = take(rest, 2).vector; left.length >= 4; ) {
    const type = left.readUInt16BE(0);
    const { vector, rest: others } = take(left.subarray(2), 2);
    if (type === SERVER_NAME) {
      const names = take(vector, 2).vector;
      return names.length > 0 && names[0] === HOST_NAME ? take(names.subarray(1), 2).vector.toString('latin1') : null;
    }
    left = others;
  }
  return null;
}

/** A vector with its length before it; what is cut short is what there is. */
function take(bytes: Buffer, lengthBytes: number): { vector: Buffer; rest: Buffer } {
  if (bytes.length < lengthBytes) return { vector: Buffer.alloc(0), rest: Buffer.alloc(0) };
  const end = lengthBytes + bytes.readUIntBE(0, lengthBytes);
  return { vector: bytes.subarray(lengthBytes, end), rest: bytes.subarray(end) };
}
