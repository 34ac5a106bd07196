import { build } from 'esbuild';

for (const e of process.argv.slice(2)) {
  const r = await build({
    entryPoints: [e],
    outfile: '/tmp/w/prof/x.js',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minifySyntax: true,
    minifyWhitespace: true,
    metafile: true,
    write: false,
    treeShaking: true,
    external: ['@vscode/ripgrep', '@ai-sdk/*'],
    plugins: [
      {
        name: 'e',
        setup(b) {
          b.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
            contents: "export { default as en } from './en.js';",
            loader: 'js',
          }));
        },
      },
    ],
  });
  let t = 0;
  for (const o of Object.values(r.metafile.outputs))
    for (const [i, { bytesInOutput: b }] of Object.entries(o.inputs)) if (/\/zod\//.test(i)) t += b;
  console.log(e, t);
}
