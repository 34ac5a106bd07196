#!/usr/bin/env node
// The way in, and the only CommonJS of dist/. `--version` answers before anything is loaded.
import { openCompiled } from './open-compiled.ts';

declare const BELAY_VERSION: string;

async function start(argv: readonly string[]): Promise<never> {
  const { main, runJob } = openCompiled(__dirname) ?? (await import('./entries.ts'));
  const isJob = argv.length === 1 && argv[0] === '--job' && process.send !== undefined;
  // Everything is flushed or given up by now; a reader that has stopped reading would keep the process alive.
  process.exit(isJob ? await runJob(process) : await main(argv, process));
}

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) process.stdout.write(`${BELAY_VERSION}\n`);
else void start(argv);
