import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import type * as Entries from './entries.ts';

/**
 * The whole program with the code that V8 made of it when it was built: read at each start instead of compiled anew. Null where there is
 * none for this very V8; the same program then comes from modules. `made` is for the build, which keeps the code of what it ran.
 */
export function openCompiled(folder: string, made?: (script: Script) => void): typeof Entries | null {
  const { v8 } = process.versions;
  // The young generation of Node 20 grows to 48 MB of garbage; kept small, a run of 200 turns takes a third less memory and no more time.
  // Only where this was measured: an unknown flag is a line on stderr. V8 takes its code again only with the same flags.
  if (v8.startsWith('11.')) setFlagsFromString('--semi-space-growth-factor=1');
  const path = join(folder, 'belay.cjs');
  const code = codeFile(folder);
  if (made === undefined && !existsSync(code)) return null;
  const script = new Script(`(function(module,require,__filename,__belayImport){${readFileSync(path, 'latin1')}\n})`, {
    filename: path,
    ...(made === undefined ? { cachedData: readFileSync(code) } : {}),
  });
  const module: { exports: Partial<typeof Entries> } = { exports: {} };
  script.runInThisContext()(module, createRequire(path), path, (name: string) => import(name));
  made?.(script);
  const { main, runJob } = module.exports;
  return main === undefined || runJob === undefined ? null : { main, runJob };
}

/** Where the code for this V8 stands. */
export function codeFile(folder: string): string {
  return join(folder, `belay.${process.versions.v8}-${process.arch}.code`);
}
