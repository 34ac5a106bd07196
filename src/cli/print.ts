import { SinkError } from '../errors.ts';
import { disarmCommands, explainError } from '../events/index.ts';

/** What goes to stderr is a courtesy: nobody who does not read it holds belay for longer. */
const PATIENCE_MS = 2_000;

/**
 * Writes text for people, in which no CI system reads a command, or bytes as they are, and waits until the stream has taken it. A reader that went away is no error: the exit code still tells. A full disk is one,
 * but for what goes to stderr: there is nowhere left to say so.
 */
export function print(stream: NodeJS.WritableStream, text: string | Uint8Array): Promise<void> {
  const isCourtesy = 'fd' in stream && stream.fd === 2;
  return new Promise((resolve, reject) => {
    const timer = isCourtesy ? setTimeout(resolve, PATIENCE_MS) : undefined;
    stream.write(typeof text === 'string' ? disarmCommands(text) : text, (error) => {
      clearTimeout(timer);
      const failure = error ? new SinkError('stdout', error) : null;
      if (failure === null || failure.reason === 'closed' || isCourtesy) resolve();
      else reject(failure);
    });
  });
}

/** What a command that failed says of why. Whatever nobody foresaw comes with where it came from. */
export function describeFailure(error: unknown): string {
  const { reason, error: about } = explainError(error);
  if (about.code !== 'internal_error') return reason;
  return `internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
