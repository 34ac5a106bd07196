import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import type { Command } from './command.ts';
import { followed } from './followed.ts';
import { type GivenOptions, listOf } from './read-options.ts';

export interface OwnFiles {
  /** Without the outputs that are refused: opening one empties it. */
  given: GivenOptions;
  fault: UsageError | null;
}

/** Refuses an output that is also read, or that another option writes. */
export function dropSharedFiles(
  { options, wordsAreFiles }: Pick<Command, 'options' | 'wordsAreFiles'>,
  { given, words }: { given: GivenOptions; words: readonly string[] },
  cwd: string,
): OwnFiles {
  const names = (use: 'in' | 'out') => [...given.keys()].filter((name) => options[name]?.file === use);
  const outputs = names('out');
  if (outputs.length === 0) return { given, fault: null };
  const owners = new Map<string, string>();
  const inputs = names('in').flatMap((name) => listOf(given, name).map((file) => [file, `--${name}`] as const));
  const read = wordsAreFiles ? words.map((word) => [word, word] as const) : [];
  for (const [file, owner] of [...inputs, ...read]) owners.set(followed(resolve(cwd, file)), owner);
  const kept = new Map(given);
  const written = new Set<string>();
  let fault: UsageError | null = null;
  for (const name of outputs) {
    const asked = resolve(cwd, listOf(given, name)[0] ?? '');
    if (takesAll(asked)) continue;
    const path = followed(asked);
    const owner = owners.get(path);
    if (owner === undefined) {
      owners.set(path, `--${name}`);
      written.add(path);
      continue;
    }
    kept.delete(name);
    fault ??= written.has(path)
      ? new UsageError(`${owner} and --${name} name the same file: ${path}`)
      : new UsageError(`--${name} would overwrite what ${owner} reads: ${path}`);
  }
  return { given: kept, fault };
}

/** Devices, pipes and what a shell has opened: nothing is emptied by writing there once more. */
function takesAll(path: string): boolean {
  return path.startsWith('/dev/') || (existsSync(path) && !statSync(path).isFile());
}
