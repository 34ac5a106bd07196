// Builds dist/: one split ESM bundle, the same program in one piece with its compiled code, a way in with a fast path for `--version`, and the
// type declarations of the SDK.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compile } from './compile.mjs';
import { renderLicenses } from './licenses.mjs';
import { digestSources } from './source-digest.mjs';
import { straightImports } from './straight-imports.mjs';

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

/**
 * The providers import zod as one object, which keeps all of it in every bundle: as a namespace, only what is used stays (140 KB less).
 * The first use of the global `Headers` loads all of Node's fetch (35 ms): they take the class that src/model takes.
 */
const lightProviders = {
  name: 'light-providers',
  setup(b) {
    b.onLoad({ filter: /@ai-sdk\/[^/]+\/dist\/index\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8').replace(
        /^import \{ z(?: as (\w+))? \} from "zod\/v4";/gm,
        (_, name) => `import * as ${name ?? 'z'} from "zod/v4";`,
      );
      const light = join(root, 'src/model/http-headers.ts');
      const headers = /\bnew Headers\b/.test(text)
        ? `import { HttpHeaders as Headers } from ${JSON.stringify(light)};\n`
        : '';
      return { contents: `${headers}${text}`, loader: 'js' };
    });
  },
};

/**
 * What is read when it is used: what lays out the help builds tables of all scripts of the world (40 ms), and Node's web streams are needed by
 * an answer alone. Of Node's assertions, which the parser makes at each start, the two that it takes need no module of 2 ms.
 */
const ON_DEMAND = {
  cliui: 'export default (...given) => require("cliui").default(...given);',
  'string-width': 'export default (...given) => require("string-width").default(...given);',
  assert: `const fail = (text) => { throw new Error(text); };
    export const strictEqual = (a, b) => Object.is(a, b) || fail('not the same');
    export const notStrictEqual = (a, b) => !Object.is(a, b) || fail('the same');`,
  'eventsource-parser/stream': `export function EventSourceParserStream(...given) {
    return new (require("eventsource-parser/stream").EventSourceParserStream)(...given);
  }`,
};
const onDemand = {
  name: 'on-demand',
  setup(b) {
    b.onResolve({ filter: /^(cliui|string-width|assert|eventsource-parser\/stream)$/ }, ({ path, importer, kind }) => {
      const isAsked =
        kind === 'import-statement' && /yargs\/lib\/platform-shims\/|provider-utils\/dist\//.test(importer);
      return isAsked ? { path, namespace: 'on-demand', pluginData: { importer } } : undefined;
    });
    b.onLoad({ filter: /.*/, namespace: 'on-demand' }, ({ path, pluginData }) => ({
      contents: ON_DEMAND[path],
      resolveDir: dirname(pluginData.importer),
    }));
  },
};

/** The way in takes the program in modules from beside it. */
const entriesBeside = {
  name: 'entries-beside',
  setup(b) {
    b.onResolve({ filter: /^\.\/entries\.ts$/ }, () => ({ path: './entries.mjs', external: true }));
  },
};

rmSync(join(root, 'dist'), { recursive: true, force: true });
const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  external: ['@vscode/ripgrep'],
  logLevel: 'warning',
};
const define = { BELAY_VERSION: JSON.stringify(version), BELAY_SOURCES: JSON.stringify(digestSources(root)) };
const plugins = [englishOnly, lightProviders, onDemand, straightImports(join(root, 'src'))];
const [{ metafile }] = await Promise.all([
  build({
    ...shared,
    entryPoints: {
      entries: 'src/cli/entries.ts',
      action: 'src/cli/github/action.ts',
      quarantined: 'src/cli/github/quarantined.ts',
      index: 'src/index.ts',
    },
    outdir: 'dist',
    metafile: true,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    format: 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    define,
    plugins,
    // Some bundled packages are CommonJS and call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as __belayRequire } from 'node:module'; const require = __belayRequire(import.meta.url);",
    },
  }),
  build({
    ...shared,
    entryPoints: ['src/cli/entries.ts'],
    outfile: 'dist/belay.cjs',
    format: 'cjs',
    define: { ...define, 'import.meta.url': '__belayUrl' },
    plugins,
    banner: { js: "const __belayUrl = require('node:url').pathToFileURL(__filename).href;" },
  }),
  build({
    ...shared,
    entryPoints: { cli: 'src/cli/bin.ts', 'open-compiled': 'src/cli/open-compiled.ts' },
    outdir: 'dist',
    format: 'cjs',
    define,
    plugins: [entriesBeside],
  }),
]);
// The way in calls it, and imports for it: see open-compiled.ts. It is read byte by byte, so that what is no ASCII is
// written as escapes, which mean the same in texts, templates and patterns.
const whole = join(root, 'dist/belay.cjs');
const program = readFileSync(whole, 'utf8')
  .replace(/(?<![\w$.'"`])import\(/g, '__belayImport(')
  .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
writeFileSync(whole, `(function(module,require,__filename,__belayImport){${program}\n})`);
writeFileSync(join(root, 'dist/LICENSES.txt'), renderLicenses(root, Object.keys(metafile.inputs)));
writeFileSync(join(root, 'dist/package.json'), '{ "type": "commonjs" }\n');

// A CommonJS package that is imported on demand has a default export alone in the bundle, whatever Node would give: names taken from it
// are undefined at run time, in dist/ only. Import it in a file of its own, and that file on demand.
const texts = new Map(
  ['dist', 'dist/chunks'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.mjs'))
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

for (const program of ['cli.js', 'quarantined.mjs']) chmodSync(join(root, 'dist', program), 0o755);
const problem = await compile();
if (problem !== null) console.error(`dist/ has no compiled code (${problem}): it works, and starts more slowly`);
if (!process.argv.includes('--no-types')) {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.types.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  writeFileSync(join(root, 'dist/types/package.json'), '{ "type": "module" }\n');
}
