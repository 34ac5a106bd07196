import { FromJob, type JobOrder, serveJob, ToJob } from '../batch/index.ts';
import { createStreamSink, type Interruption, oneLine, openTraceSink } from '../events/index.ts';
import type { RunHandle } from '../run/index.ts';
import type { HeldSignals } from './hold-signals.ts';
import { loadOutputSchema } from './load-output-schema.ts';

/** The process of one run of a batch: its order comes over the channel, its events go to stdout. Returns the exit code. */
export async function runJobProcess(process: NodeJS.Process, signals: HeldSignals, version: string): Promise<number> {
  let run: RunHandle | null = null;
  let why: Interruption | null = null;
  const interrupt = (reason: Interruption) => {
    why ??= reason;
    run?.interrupt(why);
  };
  signals.to(interrupt);
  // The batch is gone: nobody waits for a verdict any longer.
  process.on('disconnect', () => interrupt('SIGTERM'));
  const order = await new Promise<JobOrder>((resolve) => {
    process.on('message', (value: unknown) => {
      const message = ToJob.parse(value);
      if (message.kind === 'interrupt') interrupt(message.why);
      else resolve(message.order);
    });
  });
  const traces = await openTraceSink(process.env, {
    onProblem: (message) => void process.stderr.write(`belay: ${oneLine(message)}\n`),
  });
  const served = await serveJob(order, {
    version,
    environment: process.env,
    sinks: { main: createStreamSink(process.stdout, 'stdout'), others: traces === null ? [] : [traces] },
    outputSchema: order.outputSchema === null ? null : await loadOutputSchema(order.outputSchema),
    onSetupKept: () => void process.send?.(FromJob.parse({ kind: 'setup_kept' })),
  });
  run = served.run;
  if (why !== null) run.interrupt(why);
  try {
    return (await run.result).exit_code;
  } finally {
    await served.close();
  }
}
