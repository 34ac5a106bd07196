/** Writes and waits until the stream has taken it. A reader that went away is no error: the exit code still tells. */
export function print(stream: NodeJS.WritableStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error && !('code' in error && error.code === 'EPIPE')) reject(error);
      else resolve();
    });
  });
}

/** An error that nobody foresaw, with where it came from. */
export function describeBug(error: unknown): string {
  return `internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
