import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { hasCode } from '../errors.ts';
import { createGit, splitNul } from './git.ts';
import type { Location } from './locate-repository.ts';

export interface UserSettings {
  /** Ignore rules of the user's own excludes file and of the repository's `info/exclude`, the stronger last. */
  exclude: string;
  /** Patterns of a sparse checkout; null when there is none. */
  sparse: string | null;
  /** `core.autocrlf` and `core.eol`, where they make git convert on this machine; else null. */
  lineEnds: { autocrlf: string; eol: string } | null;
  /** The repository's `info/attributes`. */
  attributes: string;
}

/** What of the user's git settings decides which files count and what their bytes mean. Reading them runs nothing. */
export const readUserSettings = async ({ program, dir, repository }: Location): Promise<UserSettings> => {
  const { HOME: home = '/dev/null', XDG_CONFIG_HOME: configHome = join(home, '.config') } = process.env;
  const git = createGit(program, repository?.root ?? dir, repository === null ? {} : { GIT_DIR: repository.gitDir });
  const names = '^core\\.(excludesfile|sparsecheckout|autocrlf|eol)$';
  const listed = await git.call(['config', '-z', '--path', '--get-regexp', names], { userHome: { home, configHome } });
  const values = new Map<string, string>();
  for (const entry of splitNul(listed.stdout)) {
    const [name, value] = entry.toString('utf8').split(/\n(.*)/s);
    // A key without `=` means true.
    if (name) values.set(name, value ?? 'true');
  }
  const excludesFile = values.get('core.excludesfile') ?? join(configHome, 'git/ignore');
  const own = isAbsolute(excludesFile) ? await readText(excludesFile) : '';
  const shared = repository === null ? '' : await readText(join(repository.commonDir, 'info/exclude'));
  const sparse = repository !== null && values.get('core.sparsecheckout') === 'true';
  const autocrlf = values.get('core.autocrlf') ?? 'false';
  const eol = values.get('core.eol') ?? 'native';
  return {
    exclude: `${own}\n${shared}\n`,
    sparse: sparse ? await readText(join(repository.gitDir, 'info/sparse-checkout')) : null,
    lineEnds: ['true', 'input'].includes(autocrlf) || eol === 'crlf' ? { autocrlf, eol } : null,
    attributes: repository === null ? '' : await readText(join(repository.commonDir, 'info/attributes')),
  };
};

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR')) return '';
    throw error;
  }
};
