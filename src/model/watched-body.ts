import { ResponseTooLargeError, TransportError } from './transport-error.ts';

/** An answer of the largest models is far below; an endless one must not eat the memory. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** The body of a response, read on demand: tells when bytes come, is bounded, and fails with `TransportError` only. */
export function createWatchedBody(
  source: AsyncIterable<Uint8Array>,
  host: string,
  onBytes: () => void,
): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done === true) return controller.close();
        onBytes();
        bytes += value.byteLength;
        if (bytes > MAX_RESPONSE_BYTES) throw new ResponseTooLargeError(`more than ${MAX_RESPONSE_BYTES} bytes`);
        controller.enqueue(value);
      } catch (error) {
        await release(chunks);
        controller.error(new TransportError(host, error));
      }
    },
    async cancel() {
      await release(chunks);
    },
  });
}

/** Lets go of the connection. How that ends is of no interest: it is only done when nothing more is wanted of it. */
async function release(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  await Promise.allSettled([chunks.return?.()]);
}
