// Builds dist/: one split ESM bundle with a fast path for `--version`, and the type declarations of the SDK.
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
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
for (const program of ['cli.js', 'quarantined.js']) chmodSync(join(root, 'dist', program), 0o755);
if (!process.argv.includes('--no-types')) {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.types.json'], {
    cwd: root,
    stdio: 'inherit',
  });
}
