import { writeFile } from 'node:fs/promises';
import type { Emit } from '../events/index.ts';

/** Writes a file that the user asked for. One that cannot be written is told, and costs the run nothing else. */
export async function writeOutput(path: string, content: Buffer | string, emit: Emit): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    const message = `cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`;
    await emit({ type: 'error', code: 'output_file', message });
  }
}
