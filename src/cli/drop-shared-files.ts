import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import type { Command } from './command.ts';
import { type GivenOptions, listOf } from './read-options.ts';

export interface OwnFiles {
  /** Without the outputs that are refused: opening one empties it. */
  given: GivenOptions;
  fault: UsageError | null;
}

/** Refuses an output that is also read, or that another option writes. Devices such as /dev/null take all of them. */
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
    const path = followed(resolve(cwd, listOf(given, name)[0] ?? ''));
    const owner = path.startsWith('/dev/') ? undefined : owners.get(path);
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

/** Two names of one file are one file. */
function followed(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
