import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { UsageError } from '../errors.ts';
import type { Environment } from './proxy.ts';
import { splitShellWords } from './shell-words.ts';

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * What a program prints: a key. The program comes from the policy, its surroundings may not: it runs in the home directory and
 * is named by an absolute path, `~/…` or a name on PATH, so that a file of the workspace is never taken for it.
 * An error names the command and how it ended, never what it printed.
 */
export async function runKeyCommand(
  command: string,
  { env, timeoutMs = TIMEOUT_MS }: { env: Environment; timeoutMs?: number },
): Promise<string> {
  const [first = '', ...args] = splitShellWords(command);
  const program = first.startsWith('~/') ? join(homedir(), first.slice(2)) : first;
  if (program === '') throw new UsageError('model.api_key_command is empty', { code: 'key' });
  if (program.includes('/') && !isAbsolute(program)) {
    throw new UsageError(
      `model.api_key_command ${command}: give the program as an absolute path, ~/… or a name on PATH`,
      { code: 'key' },
    );
  }
  return new Promise((resolve, reject) => {
    const options = {
      cwd: homedir(),
      env: { ...env },
      timeout: timeoutMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: MAX_OUTPUT_BYTES,
      windowsHide: true,
    };
    const child = execFile(program, args, options, (error, stdout) => {
      if (error !== null)
        reject(new UsageError(`model.api_key_command ${command} ${describe(error, timeoutMs)}`, { code: 'key' }));
      else resolve(stdout);
    });
    child.stdin?.end();
  });
}

function describe(
  error: { code?: string | number | null; killed?: boolean; signal?: string | null },
  timeoutMs: number,
): string {
  if (error.code === 'ENOENT') return 'was not found';
  if (error.code === 'EACCES') return 'is not executable';
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `printed more than ${MAX_OUTPUT_BYTES} bytes`;
  if (error.killed === true) return `did not end within ${timeoutMs / 1000} s`;
  return typeof error.code === 'number'
    ? `ended with exit code ${error.code}`
    : `was ended by ${error.signal ?? 'an error'}`;
}
