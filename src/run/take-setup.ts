import type { Item } from '../events/index.ts';
import { copyFolder } from '../workspace/index.ts';
import type { RunContext } from './run-context.ts';

/** Stands in for setup where another run of the batch did it: its HOME is copied, and the stream says whose work it was. */
export async function takeSetup(context: RunContext, taken: { home: string; from: string }): Promise<void> {
  await copyFolder(taken.home, context.homes.setup);
  for (const step of context.policy.setup) {
    const base = { id: context.nextItemId(), type: 'command_execution', command: step.run } as const;
    const started: Item = { ...base, status: 'in_progress', aggregated_output: '', exit_code: null };
    await context.emit({ type: 'item.started', turn: null, phase: 'setup', item: started });
    const item: Item = {
      ...base,
      status: 'completed',
      aggregated_output: '',
      exit_code: null,
      duration_ms: 0,
      reason: `not run here: what it left was taken from the job ${taken.from} of this batch`,
    };
    await context.emit({ type: 'item.completed', turn: null, phase: 'setup', item });
  }
}
