#!/usr/bin/env node
// The way in, and the only CommonJS of dist/. `--version` answers before anything is loaded.
import { openCompiled } from './open-compiled.ts';

declare const BELAY_VERSION: string;

/** Until then the program is being read, and a small young generation would be collected twenty times (60 ms). */
const STARTED_MS = 1000;

/**
 * The young generation of Node 20 grows to 48 MB of garbage; kept as it is after the start, a run of 200 turns takes a third less memory
 * and no more time. Only where this was measured: an unknown flag is a line on stderr.
 */
function keepYoungSmall(): void {
  if (!process.versions.v8.startsWith('11.')) return;
  setTimeout(() => {
    process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1');
  }, STARTED_MS).unref();
}

async function start(argv: readonly string[]): Promise<never> {
  keepYoungSmall();
  const { main, runJob } = openCompiled(__dirname) ?? (await import('./entries.ts'));
  const isJob = argv.length === 1 && argv[0] === '--job' && process.send !== undefined;
  // Everything is flushed or given up by now; a reader that has stopped reading would keep the process alive.
  process.exit(isJob ? await runJob(process) : await main(argv, process));
}

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) process.stdout.write(`${BELAY_VERSION}\n`);
else void start(argv);
