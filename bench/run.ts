/**
 * `npm run bench [-- --quick] [-- --json FILE]`: one Markdown table of what belay costs, each figure beside one measured in the same run.
 * A model server on loopback answers at once, so that what is measured is the harness.
 */

import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBatch, benchOutput, benchPatch } from './big.ts';
import { benchCommands } from './commands.ts';
import { benchFence } from './fence.ts';
import { measureRun, type RunFigures } from './measure-run.ts';
import { median, type Row, renderTable } from './row.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { benchSnapshots, benchThread } from './threads.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, json: { type: 'string' } } });
const { quick } = values;
const BYTES_PER_TOKEN = 4;

/** The median of each figure over runs with the same script. */
async function medianRun(
  rounds: number,
  options: { model: ScriptedModel; turns: number; mode: 'workspace-write' | 'off' },
) {
  const all: RunFigures[] = [];
  for (let round = 0; round < rounds; round++) all.push(await measureRun(options));
  return (name: keyof RunFigures) => median(all.map((figures) => figures[name]));
}

async function benchTurns(model: ScriptedModel, bwrapMs: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const turns of quick ? [1, 10] : [1, 10, 50, 200, 1000]) {
    for (const mode of ['workspace-write', 'off'] as const) {
      const of = await medianRun(turns > 100 || quick ? 1 : 5, { model, turns, mode });
      const where = `N = ${turns}, ${mode === 'off' ? 'no sandbox' : 'sandboxed'}`;
      if (turns === 1) rows.push({ name: `first request, ${where}`, value: of('startMs'), unit: 'ms' });
      if (turns === 1 && mode === 'off') {
        const bytes = of('firstPromptBytes');
        rows.push({
          name: 'system prompt and tools of the first request',
          value: bytes / BYTES_PER_TOKEN,
          unit: 'tokens',
        });
      }
      const against = mode === 'off' ? {} : { against: { name: 'raw `bwrap true`', value: bwrapMs } };
      rows.push({ name: `own time a turn, ${where}`, value: of('turnMs'), unit: 'ms', ...against });
      if (turns >= 200) {
        const early = { name: 'the first tenth of the turns', value: of('earlyTurnMs') };
        rows.push({
          name: `the last tenth of the turns, ${where}`,
          value: of('lateTurnMs'),
          unit: 'ms',
          against: early,
        });
      }
      rows.push({ name: `last answer to exit, ${where}`, value: of('exitMs'), unit: 'ms' });
      rows.push({ name: `CPU, ${where}`, value: of('cpuS'), unit: 's CPU' });
      rows.push({ name: `peak memory of all processes, ${where}`, value: of('peakMb'), unit: 'MB' });
      if (turns === 50)
        rows.push({
          name: `request prefix shared with the one before, ${where}`,
          value: of('sharedPrefix'),
          unit: 'ratio',
        });
      if (turns >= 50) rows.push({ name: `event log a turn, ${where}`, value: of('logBytesPerTurn'), unit: 'bytes' });
    }
  }
  return rows;
}

const model = await startScriptedModel();
try {
  const { rows, bwrapMs } = await benchCommands(quick ? 5 : 21);
  const parts: (() => Promise<Row[]>)[] = [
    () => benchFence(quick ? 5 : 41),
    () => benchTurns(model, bwrapMs),
    () => benchOutput(model),
    ...(quick ? [1_000] : [1_000, 10_000, 100_000]).map((files) => () => benchSnapshots(files)),
    () => benchPatch(),
    () => benchThread(quick ? 1_000 : 10_000),
    () => benchBatch(quick ? 4 : 200),
  ];
  for (const part of parts) {
    const more = await part();
    rows.push(...more);
    process.stderr.write(`${renderTable(more)}\n\n`);
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 1024 ** 3)} GiB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;
  process.stdout.write(`Machine: ${machine}.\n\n${renderTable(rows)}\n`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
} finally {
  await model.close();
}
