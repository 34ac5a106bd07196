import { codeOf } from '../errors.ts';

/** Certificate errors of Node's TLS: no later try will do better. */
const CERTIFICATE_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** The network or the peer failed below HTTP, or broke one of belay's bounds. Thrown by the transport, found again by `parseFailure`. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** Node's error code (`ECONNRESET`), or `TOO_LARGE`. */
  readonly code: string;
  readonly retryable: boolean;

  constructor(host: string, cause: unknown) {
    const code = codeInChain(cause);
    const isCertificate = CERTIFICATE_CODES.has(code);
    super(
      `the connection to ${host} failed (${code})${isCertificate ? '; for a private authority set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE' : ''}`,
      { cause },
    );
    this.code = code;
    this.retryable = !isCertificate && code !== 'TOO_LARGE';
  }
}

/** The bound that an answer broke. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError';
  readonly code = 'TOO_LARGE';
}

/** Of the error or of the first of its causes that has one. */
function codeInChain(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    const code = codeOf(cause);
    if (code !== null) return code;
  }
  return error instanceof Error ? error.name : 'unknown';
}
