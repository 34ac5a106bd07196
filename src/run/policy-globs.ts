import { isAbsolute, join, relative, sep } from 'node:path';
import { linkTarget } from '../workspace/index.ts';

/** As many as Linux follows. */
const MOST_LINKS = 40;

/**
 * The policy in use, as globs that protect it, where it lies below the root (real, absolute): the file, and every link on the way to it.
 * `path` is absolute.
 */
export async function policyGlobs(path: string, root: string): Promise<string[]> {
  const places = await placesOf(path);
  return places
    .map((place) => relative(root, place))
    .filter((below) => below !== '' && below !== '..' && !below.startsWith(`..${sep}`))
    .map(
      (below) =>
        `/${below
          .split(sep)
          .join('/')
          .replace(/[\\*?[\]{}!]/g, '\\$&')}`,
    );
}

/** Real paths of the links that lead to a file, and of the file. */
async function placesOf(path: string): Promise<string[]> {
  const links: string[] = [];
  const rest = path.split(sep);
  let at: string = sep;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = join(at, part);
    const target = next === at || part === '..' ? null : await linkTarget(next);
    if (target === null || links.length === MOST_LINKS) {
      at = next;
      continue;
    }
    links.push(next);
    if (isAbsolute(target)) at = sep;
    rest.unshift(...target.split(sep));
  }
  return [...links, at];
}
