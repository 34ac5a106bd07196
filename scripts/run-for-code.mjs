// The program of compile.mjs: a command line of belay, and then its code beside dist/belay.cjs.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const { codeFile, openCompiled } = createRequire(import.meta.url)(join(dist, 'open-compiled.js'));
let script;
const { main } = openCompiled(dist, (made) => {
  script = made;
});
// A build takes signals as any program does.
const signals = { first: () => null, to: () => undefined, release: async () => undefined };
const code = await main(process.argv.slice(2), process, signals);
if (code === 0) writeFileSync(codeFile(dist), script.createCachedData());
process.exit(code);
