import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Enough for what a command that only writes files has to say. */
const OUTPUT_BYTES = 1_048_576;

/** Runs a command of belay that writes files. Resolves to null, or to why it failed. */
export async function callBelay(cli: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  try {
    await promisify(execFile)(process.execPath, [cli, ...args], { env, maxBuffer: OUTPUT_BYTES });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const says = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
    return says === '' ? error.message : says;
  }
}
