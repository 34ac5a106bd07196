import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { ReferenceFile } from '../context/index.ts';
import { UsageError } from '../errors.ts';

/** Reference material is sent with every request: its whole size is bounded. */
const MOST_BYTES = 262_144;

/** Files of `--context`: paths or globs, relative to the current folder. `confine` throws for what may not be read. A pattern that finds nothing is a usage error. */
export async function loadReferences(
  patterns: readonly string[],
  cwd: string,
  confine: (path: string) => Promise<void> = async () => undefined,
): Promise<ReferenceFile[]> {
  const files: ReferenceFile[] = [];
  let bytes = 0;
  for (const path of await expand(patterns, cwd)) {
    await confine(path);
    const text = await readText(path);
    bytes += Buffer.byteLength(text);
    if (bytes > MOST_BYTES)
      throw new UsageError(`--context: the files together are larger than ${MOST_BYTES} bytes (at ${path})`);
    files.push({ path: relative(cwd, path), text });
  }
  return files;
}

async function expand(patterns: readonly string[], cwd: string): Promise<string[]> {
  const paths: string[] = [];
  for (const pattern of patterns) {
    if (!/[*?[{]/.test(pattern)) {
      paths.push(resolve(cwd, pattern));
      continue;
    }
    const { default: glob } = await import('fast-glob');
    const found = await glob(pattern, { cwd, absolute: true, dot: true, followSymbolicLinks: false });
    if (found.length === 0) throw new UsageError(`--context: ${pattern} matches no file`);
    paths.push(...found.sort());
  }
  return [...new Set(paths)];
}

async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    const why =
      error instanceof TypeError ? 'it is not valid UTF-8' : error instanceof Error ? error.message : String(error);
    throw new UsageError(`--context: cannot read ${path}: ${why}`, { cause: error });
  }
}
