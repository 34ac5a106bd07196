import { SinkError, UsageError } from '../errors.ts';

/**
 * Writes and waits until the stream has taken it. A reader that went away is no error: the exit code still tells. A full disk is one,
 * but for what goes to stderr: there is nowhere left to say so.
 */
export function print(stream: NodeJS.WritableStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      const failure = error ? new SinkError('stdout', error) : null;
      if (failure === null || failure.reason === 'closed' || ('fd' in stream && stream.fd === 2)) resolve();
      else reject(failure);
    });
  });
}

/** What a command that failed says of why. Whatever nobody foresaw comes with where it came from. */
export function describeFailure(error: unknown): string {
  if (error instanceof UsageError || error instanceof SinkError) return error.message;
  return `internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
