import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import type { ProposedCheck } from './starter-checks.ts';

/** Where programs and their caches are looked for. */
export interface Machine {
  home: string;
  /** `PATH` */
  path: string;
  /** The running Node, whose installation commands see anyway. */
  node: string;
  isExecutable(file: string): boolean;
}

/** Programs that a program starts by itself, found on `PATH`. */
const STARTED: Readonly<Record<string, readonly string[]>> = {
  mvn: ['java'],
  './mvnw': ['java'],
  './gradlew': ['java'],
  gradle: ['java'],
  sbt: ['java'],
  cargo: ['rustc'],
};
/** What a program reads of a home besides itself. The folders beside them may hold keys of a registry, and are not named. */
const CACHES: Readonly<Record<string, readonly string[]>> = {
  cargo: ['.rustup', '.cargo/registry', '.cargo/git'],
  mvn: ['.m2/repository'],
  './mvnw': ['.m2/repository', '.m2/wrapper'],
  go: ['go/pkg/mod'],
  ruby: ['.gem/ruby', '.local/share/gem/ruby'],
  bundle: ['.gem/ruby', '.local/share/gem/ruby', '.bundle/cache'],
};
/** Folders of more than one program: of these, what holds the program alone. */
const SHARED: ReadonlySet<string> = new Set(['.cargo', '.local']);

/**
 * Folders of the home that the commands of checks need, as `~/…`: a fence shows the system's folders, and of a home nothing. Programs of
 * the workspace itself are seen anyway.
 */
export function findHomeFolders(
  checks: readonly ProposedCheck[],
  workspace: string,
  { home, path, node, isExecutable }: Machine,
): readonly string[] {
  const words = checks.flatMap(({ run }) => run.split(/[\s&|;]+/));
  const programs = new Set(
    words.flatMap((word) => [word, ...(Object.hasOwn(STARTED, word) ? (STARTED[word] ?? []) : [])]),
  );
  const found = new Set<string>();
  const add = (folder: string) => {
    const below = folder.startsWith(home + sep) ? folder.slice(home.length + 1) : null;
    const seen = [workspace, dirname(dirname(node))].some(
      (other) => folder === other || folder.startsWith(other + sep),
    );
    if (below !== null && !seen && SAFE_PATH.test(below)) found.add(`~/${below}`);
  };
  for (const program of programs) {
    const file = placesOf(program, path).find(isExecutable);
    if (file !== undefined) for (const place of new Set([file, realpathSync(file)])) add(installationOf(place, home));
    const caches = Object.hasOwn(CACHES, program) ? (CACHES[program] ?? []) : [];
    for (const cache of [...caches, ...(program === 'python3' ? userPackages(home) : [])])
      if (existsSync(join(home, cache))) add(join(home, cache));
  }
  const all = [...found].sort();
  return all.filter((one) => !all.some((other) => one.startsWith(`${other}/`)));
}

/** What stands in a policy without quotes. */
const SAFE_PATH = /^[\w.@+/-]+$/;

/** Where a program of this name may lie, in the order of `PATH`. */
function placesOf(program: string, path: string): readonly string[] {
  if (!/^[A-Za-z][\w.+-]*$/.test(program)) return [];
  const files = path.split(delimiter).map((folder) => join(folder, program));
  return files.filter((file) => file.startsWith(sep));
}

/** `~/.pyenv` of `~/.pyenv/shims/python3`, but `~/.cargo/bin` of `~/.cargo/bin/cargo`. */
function installationOf(file: string, home: string): string {
  const folder = dirname(file);
  const above = dirname(folder);
  const isShared = !above.startsWith(home + sep) || SHARED.has(above.slice(home.length + 1));
  return /\/(bin|shims)$/.test(folder) && !isShared ? above : folder;
}

/** `pip install --user` */
function userPackages(home: string): readonly string[] {
  const lib = join(home, '.local/lib');
  return existsSync(lib)
    ? readdirSync(lib)
        .filter((name) => /^python3/.test(name))
        .map((name) => `.local/lib/${name}`)
    : [];
}
