#!/usr/bin/env node
// The way in. `--version` answers before anything is loaded.
declare const BELAY_VERSION: string;

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) {
  process.stdout.write(`${BELAY_VERSION}\n`);
} else if (argv.length === 1 && argv[0] === '--job' && process.send !== undefined) {
  // A run of a batch, started by belay itself: see start-job.ts.
  const { runJobProcess } = await import('./job-process.ts');
  process.exit(await runJobProcess(process, BELAY_VERSION));
} else {
  const { main } = await import('./main.ts');
  // Everything is flushed or given up by now; a reader that has stopped reading would keep the process alive.
  process.exit(await main(argv, process));
}
