import { RunBlockedError } from '../errors.ts';
import { type Baseline, judge, runBaseline } from '../verify/index.ts';
import { isUnrecordable, type TreeId } from '../workspace/index.ts';
import { createCheckPorts } from './check-ports.ts';
import { type Conclusion, conclude, concludeInterruption, concludeLimit } from './conclusion.ts';
import { createJury, type Jury } from './jury.ts';
import { planCheckMounts } from './mounts.ts';
import type { Prepared } from './prepare.ts';
import { replacedFolder } from './replaced-folder.ts';
import type { RunContext } from './run-context.ts';
import { runSetup } from './setup.ts';
import { takeSetup } from './take-setup.ts';
import { tellMovedAside } from './tell-moved-aside.ts';

/** What the agent's work stands on. */
export interface Ground {
  jury: Jury;
  baseline: Baseline;
}

/**
 * Setup and baseline where the thread began, then the work of its earlier runs on top; or how the run ends because of it. A resumed run
 * may be on another machine: nothing that setup made is taken for granted.
 */
export async function layGround(prepared: Prepared): Promise<Ground | Conclusion> {
  const { context } = prepared;
  if (context === null) throw new Error('bug: the ground of a run that is not prepared');
  const { policy, workspace, earlier } = context;
  const needsBase = policy.setup.length > 0 || policy.verify.checks.length > 0;
  if (needsBase && earlier !== null) {
    await earlier.putAway(context);
    // What an earlier run's agent did to ignored files must reach neither setup, with its secrets, nor the checks.
    const aside = replacedFolder(context.thread.dir, context.runId);
    await workspace.removeUnrecorded({ aside });
    await context.carry.putBack({ aside });
    await tellMovedAside(context);
  }
  const jury = await setUp(prepared);
  if ('outcome' in jury) return jury;
  const baseline = await takeBaseline(context);
  if ('outcome' in baseline) return baseline;
  await earlier?.bringBack(context.emit);
  return { jury, baseline };
}

/** Runs setup, or takes what another run of the batch made of it, and calls the jury on the tree as it stands then; or how the run ends. */
export async function setUp({ context, trees, holdouts }: Prepared): Promise<Jury | Conclusion> {
  if (context === null || trees === null) throw new Error('bug: setup of a run that is not prepared');
  const { policy, workspace, homes, request } = context;
  if (policy.setup.length > 0) {
    const { setupTaken, onSetupDone } = request;
    if (setupTaken !== undefined) await takeSetup(context, setupTaken);
    else {
      const mounts = planCheckMounts(context.mounts);
      await runSetup(context, { dir: workspace.dir, mounts, home: homes.setup, afterChange: false });
    }
    trees.start = await snapshotOfSetup(context);
    if (!context.stop.aborted) await onSetupDone?.({ root: workspace.root, home: homes.setup });
  }
  return stoppedEarly(context) ?? createJury({ context, start: trees.start, holdouts });
}

async function snapshotOfSetup({ workspace }: RunContext): Promise<TreeId> {
  try {
    return await workspace.snapshot();
  } catch (error) {
    if (!isUnrecordable(error)) throw error;
    throw new RunBlockedError('setup_failed', `what setup left cannot be recorded: ${error.message}`, error);
  }
}

/** How the run ends when it was stopped before the agent began, or null. */
export function stoppedEarly(context: RunContext): Conclusion | null {
  if (context.interrupt.aborted) return concludeInterruption('SIGTERM');
  if (context.stop.aborted) return wallTimeOver(context);
  return null;
}

export function wallTimeOver(context: RunContext): Conclusion {
  return concludeLimit({
    limit: 'wall_time',
    used: Math.round(context.elapsedMs()),
    max: context.policy.limits.wallTimeMs,
  });
}

/** The baseline, or how the run ends because of it. */
export async function takeBaseline(context: RunContext): Promise<Baseline | Conclusion> {
  const { workspace, policy } = context;
  const place = {
    root: workspace.root,
    dir: workspace.dir,
    mounts: planCheckMounts(context.mounts),
    phase: 'baseline',
  } as const;
  const end = await runBaseline(
    { workspace, place, ports: createCheckPorts(context), verify: policy.verify },
    context.stop,
  );
  if (end.kind === 'ready') return end.baseline;
  if (end.kind === 'blocked') {
    const { checks } = judge({ verify: policy.verify, baseline: end.baseline, rounds: [], tree: null, violations: [] });
    const error = { code: end.outcome, message: end.reason, retryable: false };
    return conclude(end.outcome, end.reason, { checks, error });
  }
  return stoppedEarly(context) ?? wallTimeOver(context);
}
