import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import * as z from 'zod';
import { hasCode, UsageError } from '../errors.ts';

const Conditions: z.ZodType<unknown> = z.lazy(() =>
  z.union([z.string(), z.null(), z.array(Conditions), z.record(z.string(), Conditions)]),
);
const Manifest = z.object({
  exports: Conditions.optional(),
  module: z.string().optional(),
  main: z.string().optional(),
});

export interface PackageSearch {
  /** Folders whose `node_modules` (and those of the folders above them) are searched, in order. */
  from: readonly string[];
  /** Nothing below this folder is ever loaded: its files are the agent's. */
  workspace: string;
}

/**
 * The file to import for an installed package, or null. Node's own resolution is not used: it starts where the importing file
 * is and would take a `node_modules` that somebody put into the workspace.
 */
export async function findPackage(name: string, { from, workspace }: PackageSearch): Promise<string | null> {
  const fence = await realpath(workspace);
  for (const start of from) {
    for (let folder = start; ; folder = dirname(folder)) {
      const root = join(folder, 'node_modules', name);
      const entry = await entryOf(root);
      if (entry !== null && !isInside(await realpath(entry), fence) && !isInside(root, fence)) return entry;
      if (dirname(folder) === folder) break;
    }
  }
  return null;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}

async function entryOf(root: string): Promise<string | null> {
  let text: string;
  try {
    text = await readFile(join(root, 'package.json'), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
  const manifest = Manifest.safeParse(JSON.parse(text));
  if (!manifest.success)
    throw new UsageError(`${join(root, 'package.json')} is not a package manifest`, { code: 'provider' });
  const { exports, module, main } = manifest.data;
  return join(root, targetOf(exports) ?? module ?? main ?? 'index.js');
}

/** The main entry for `import`, conditions in the order of the manifest, as Node reads them. */
function targetOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(targetOf).find((target) => target !== null) ?? null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [condition, target] of Object.entries(value)) {
    if (
      condition === '.' ||
      condition === 'node' ||
      condition === 'import' ||
      condition === 'module-sync' ||
      condition === 'default'
    ) {
      const found = targetOf(target);
      if (found !== null) return found;
    }
  }
  return null;
}
