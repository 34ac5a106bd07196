#!/usr/bin/env node
// `belay-quarantined …`: belay in a step of a workflow, with its output where the runner obeys no command of it.
import { fileURLToPath } from 'node:url';
import { childEnvironment } from './child-environment.ts';
import { runQuarantined } from './run-quarantined.ts';

const args = process.argv.slice(2);
const code = await runQuarantined({
  title: `belay ${args[0] ?? ''}`.trimEnd(),
  file: process.execPath,
  args: [fileURLToPath(new URL('./cli.js', import.meta.url)), ...args],
  env: childEnvironment(process.env),
  io: process,
});
process.exitCode = code ?? 1;
