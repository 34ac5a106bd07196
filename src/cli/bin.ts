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
  // The young generation of Node 20 grows to 48 MB of garbage; kept small, a run of 200 turns takes a third less memory and no more time.
  // Only where this was measured: an unknown flag is a line on stderr.
  if (process.versions.v8.startsWith('11.')) {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString('--semi-space-growth-factor=1');
  }
  const { main } = await import('./main.ts');
  // Everything is flushed or given up by now; a reader that has stopped reading would keep the process alive.
  process.exit(await main(argv, process));
}
