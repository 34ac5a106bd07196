import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import type * as Entries from './entries.ts';

/**
 * The whole program with the code that V8 made of it when it was built: read at each start instead of compiled anew. Null where there is
 * none for this very V8; the same program then comes from modules. `made` is for the build, which keeps the code of what it ran.
 */
export function openCompiled(folder: string, made?: (script: Script) => void): typeof Entries | null {
  const path = join(folder, 'belay.cjs');
  const code = codeFile(folder);
  if (made === undefined && !existsSync(code)) return null;
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    ...(made === undefined ? { cachedData: readFileSync(code) } : {}),
  });
  const module: { exports: Partial<typeof Entries> } = { exports: {} };
  const require = createRequire(path);
  // V8 does not know any more who imports, for code that was kept. Node's own modules need no loader of modules (10 ms).
  const load = async (name: string): Promise<unknown> => (name.startsWith('node:') ? require(name) : import(name));
  script.runInThisContext()(module, require, path, load);
  made?.(script);
  const { main, runJob } = module.exports;
  return main === undefined || runJob === undefined ? null : { main, runJob };
}

/** Where the code for this V8 stands. */
export function codeFile(folder: string): string {
  return join(folder, `belay.${process.versions.v8}-${process.arch}.code`);
}
