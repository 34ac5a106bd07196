// Builds dist/: one split ESM bundle with a fast path for `--version`, and the type declarations of the SDK.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** zod bundles every language of its messages; belay speaks English. */
const englishOnly = {
  name: 'english-only',
  setup(b) {
    b.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
    }));
  },
};

/** The providers import zod as one object, which keeps all of it in every bundle; as a namespace, only what is used stays (140 KB less). */
const zodAsNamespace = {
  name: 'zod-as-namespace',
  setup(b) {
    b.onLoad({ filter: /@ai-sdk\/[^/]+\/dist\/index\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /^import \{ z(?: as (\w+))? \} from "zod\/v4";/gm,
        (_, name) => `import * as ${name ?? 'z'} from "zod/v4";`,
      ),
      loader: 'js',
    }));
  },
};

rmSync(join(root, 'dist'), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: {
    cli: 'src/cli/bin.ts',
    action: 'src/cli/github/action.ts',
    quarantined: 'src/cli/github/quarantined.ts',
    index: 'src/index.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  chunkNames: 'chunks/[name]-[hash]',
  define: { BELAY_VERSION: JSON.stringify(version) },
  external: ['@vscode/ripgrep'],
  plugins: [englishOnly, zodAsNamespace],
  // Some bundled packages are CommonJS and call `require` for Node's own modules.
  banner: {
    js: "import { createRequire as __belayRequire } from 'node:module'; const require = __belayRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

// A CommonJS package that is imported on demand has a default export alone in the bundle, whatever Node would give: names taken from it
// are undefined at run time, in dist/ only. Import it in a file of its own, and that file on demand.
const texts = new Map(
  ['dist', 'dist/chunks'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.js'))
      .map((name) => [name, readFileSync(join(root, folder, name), 'utf8')]),
  ),
);
for (const text of texts.values()) {
  for (const [, names, chunk] of text.matchAll(/\{([^{}]*)\}=\(?await import\("\.\/(?:chunks\/)?([^"/]+)"\)/g)) {
    if (!/export default require_\w*\(\);/.test(texts.get(chunk) ?? '')) continue;
    const lost = names.split(',').filter((name) => !/^default\b/.test(name));
    if (lost.length > 0) throw new Error(`${chunk} is CommonJS: ${lost.join(', ')} would be undefined in the bundle`);
  }
}

for (const program of ['cli.js', 'quarantined.js']) chmodSync(join(root, 'dist', program), 0o755);
if (!process.argv.includes('--no-types')) {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.types.json'], {
    cwd: root,
    stdio: 'inherit',
  });
}
