#!/usr/bin/env node
// The way in, and the only CommonJS of dist/. `--version` answers before anything is loaded.
import { writeFileSync } from 'node:fs';
import { codeOf, SinkError } from '../errors.ts';
import { holdSignals } from './hold-signals.ts';
import { openCompiled } from './open-compiled.ts';

declare const BELAY_VERSION: string;

/** Until about then the program is being read, and a small young generation would be collected twenty times (60 ms). */
const STARTED_MS = 500;

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

/** As `print` does it: a reader that went away is no error, a full disk is one. */
function printVersion(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error) => {
    const { reason, message } = new SinkError('stdout', error);
    if (reason === 'closed') return;
    process.stderr.write(`belay: ${message}\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${BELAY_VERSION}\n`);
}

/**
 * Should the kernel write a core dump of this process, before its limit is set or in spite of it, none of its memory is in it; inherited
 * by all that it starts. Linux only, and only where /proc is as usual.
 */
function keepMemoryOutOfCores(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch (error) {
    if (codeOf(error) === null) throw error;
  }
}

async function start(argv: readonly string[]): Promise<never> {
  const signals = holdSignals(process);
  keepMemoryOutOfCores();
  keepYoungSmall();
  const { main, runJob } = openCompiled(__dirname) ?? (await import('./entries.ts'));
  const isJob = argv.length === 1 && argv[0] === '--job' && process.send !== undefined;
  // Everything is flushed or given up by now; a reader that has stopped reading would keep the process alive.
  process.exit(isJob ? await runJob(process, signals) : await main(argv, process, signals));
}

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) printVersion();
else void start(argv);
