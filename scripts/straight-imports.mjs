// What one room takes from another comes through its index.ts. In the bundle a name comes from the file that has it, so that a start does not
// evaluate what stands beside it (schemas of what only `audit` and `batch` read; see docs/performance.md).
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LIST = /^(import|export) (?!type )\{([^}]*)\} from '([^']+)';/gm;

/** What an index file gives, by name: the file that has it, and its name there. */
function readIndex(path, known) {
  const names = known.get(path) ?? new Map();
  if (known.has(path)) return names;
  known.set(path, names);
  const text = readFileSync(path, 'utf8');
  for (const [, kind, list, from] of text.matchAll(LIST)) {
    if (kind !== 'export') continue;
    for (const { name, as } of namesOf(list)) names.set(as, { file: join(dirname(path), from), name });
  }
  return names;
}

/** The values of a list of names; types are nothing in a bundle. */
function namesOf(list) {
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => {
      const [name, as = name] = one.split(/\s+as\s+/);
      return { name, as };
    });
}

/** An esbuild plugin. */
export function straightImports(src) {
  const known = new Map();
  return {
    name: 'straight-imports',
    setup(b) {
      b.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.startsWith(src)) return undefined;
        const contents = readFileSync(path, 'utf8').replace(LIST, (whole, kind, list, from) => {
          if (!from.endsWith('/index.ts')) return whole;
          const index = readIndex(join(dirname(path), from), known);
          const straight = namesOf(list).map(({ name, as }) => {
            const origin = index.get(name);
            if (origin === undefined) return `${kind} { ${name} as ${as} } from '${from}';`;
            return `${kind} { ${origin.name} as ${as} } from ${JSON.stringify(origin.file)};`;
          });
          return straight.join(' ');
        });
        return { contents, loader: 'ts' };
      });
    },
  };
}
