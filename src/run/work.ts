import type { Denial, Outcome, Usage } from '../events/index.ts';
import { NO_USAGE } from '../events/index.ts';
import { createLoop, type Loop, type LoopEnd } from '../loop/index.ts';
import { editFamilyOf } from '../model/index.ts';
import { createTools } from '../tools/index.ts';
import { type Baseline, judge, reserveFor, runBaseline } from '../verify/index.ts';
import { createAgentPorts, outputOf } from './agent-ports.ts';
import { createCheckPorts } from './check-ports.ts';
import { type Conclusion, conclude, concludeInterruption } from './conclusion.ts';
import { createJury, type Jury } from './jury.ts';
import { planCheckMounts } from './mounts.ts';
import type { Prepared } from './prepare.ts';
import type { RunContext } from './run-context.ts';
import { runSetup } from './setup.ts';
import { takeSetup } from './take-setup.ts';

/** What the work came to, for the result. */
export interface Worked {
  conclusion: Conclusion;
  denials: readonly Denial[];
  usage: Usage;
  /** null when an answer's price is unknown. */
  costUsd: number | null;
  turns: number;
  attempts: number;
  toolCalls: number;
}

/** Share of a limit at which its use is told. */
const WARN_AT = 0.8;

const NOTHING: Omit<Worked, 'conclusion'> = {
  denials: [],
  usage: NO_USAGE,
  costUsd: 0,
  turns: 0,
  attempts: 0,
  toolCalls: 0,
};

/** Setup, baseline, then turns and rounds until a verdict. Throws `RunBlockedError` and `UsageError` for what ends it before the agent. */
export async function work(prepared: Prepared, takeSteering: () => readonly string[]): Promise<Worked> {
  const { context, trees } = prepared;
  if (context === null || trees === null) throw new Error('bug: work on a run that is not prepared');
  const { workspace } = context;
  const place = {
    dir: workspace.dir,
    mounts: planCheckMounts(context.mounts),
    home: context.homes.setup,
    afterChange: false,
  };
  if (context.policy.setup.length > 0) {
    const { setupTaken, onSetupDone } = context.request;
    if (setupTaken === undefined) await runSetup(context, place);
    else await takeSetup(context, setupTaken);
    trees.start = await workspace.snapshot();
    if (!context.stop.aborted) await onSetupDone?.({ root: workspace.root, home: context.homes.setup });
  }
  const stopped = stoppedEarly(context);
  if (stopped !== null) return { ...NOTHING, conclusion: stopped };
  const jury = await createJury({ context, start: trees.start, holdouts: prepared.holdouts });
  const before = await takeBaseline(context);
  if ('outcome' in before) return { ...NOTHING, conclusion: before };
  const reserveMs = reserveFor(before, context.policy.verify, context.timeLeftMs());
  const deadlineMs = Math.max(0, context.policy.limits.wallTimeMs - reserveMs);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), Math.max(0, deadlineMs - context.elapsedMs()));
  try {
    const tools = createTools(context.policy, editFamilyOf(context.model.provider, context.model.name));
    const ports = await createAgentPorts({
      context,
      tools,
      home: await context.homes.copy('agent'),
      agentDeadlineMs: deadlineMs,
      takeSteering,
      startTree: trees.start,
    });
    const loop = createLoop(ports, { interrupt: context.interrupt, deadline: deadline.signal });
    const { conclusion, attempts } = await runAttempts({
      context,
      loop,
      jury,
      baseline: before,
      startTree: trees.start,
    });
    const { budget, denials } = loop;
    return {
      conclusion,
      denials,
      attempts,
      usage: budget.usage,
      costUsd: budget.costUsd,
      turns: budget.turns,
      toolCalls: budget.toolCalls,
    };
  } finally {
    clearTimeout(timer);
  }
}

/** How the run ends when it was stopped before the agent began, or null. */
export function stoppedEarly(context: RunContext): Conclusion | null {
  if (context.interrupt.aborted) return concludeInterruption('SIGTERM');
  if (context.stop.aborted) return wallTimeOver(context);
  return null;
}

function wallTimeOver(context: RunContext): Conclusion {
  return concludeLimit({
    kind: 'limit',
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

interface AttemptsSite {
  context: RunContext;
  loop: Loop;
  jury: Jury;
  baseline: Baseline;
  startTree: string;
}

/** The agent works, belay verifies; a red round goes back as evidence until it is green or the attempts are used up. */
async function runAttempts({
  context,
  loop,
  jury,
  baseline,
  startTree,
}: AttemptsSite): Promise<{ conclusion: Conclusion; attempts: number }> {
  const { limits, verify } = context.policy;
  let violation: Conclusion | null = null;
  let warned = false;
  for (let attempt = 1; ; attempt++) {
    if (attempt > 1 && attempt >= WARN_AT * limits.attempts && !warned) {
      warned = true;
      await context.emit({ type: 'limit.warned', limit: 'attempts', used: attempt, max: limits.attempts });
    }
    const end = await loop.run(attempt);
    const over = (conclusion: Conclusion) => ({
      conclusion: conclusion.checks.length > 0 ? conclusion : { ...conclusion, checks: jury.standing(baseline) },
      attempts: attempt - 1,
    });
    const final = endsWithoutVerdict(end);
    // What is known of the final tree stands, whatever became of the model after it was told.
    if (final?.outcome === 'model_failed' && violation !== null)
      return over({
        ...violation,
        reason: `${violation.reason}; then the model failed: ${final.reason}`,
        error: final.error,
      });
    if (final !== null) return over(final);
    if (end.kind === 'limit' && (verify.checks.length === 0 || loop.tree === null || loop.tree === startTree))
      return over(concludeLimit(end));
    if (end.kind === 'finished' && end.empty && verify.checks.length === 0) {
      return over(
        conclude('model_failed', 'the model answered with nothing, three times in a row', {
          error: { code: 'empty_answers', message: 'empty answers', retryable: true },
        }),
      );
    }
    const verdict = await jury.judge({ attempt, baseline, limited: end.kind === 'limit' });
    const said = describeEnd(end, context);
    const { outcome, reason, evidence, checks } = verdict;
    const again =
      verdict.feedback !== null && attempt < limits.attempts && end.kind === 'finished' && !context.stop.aborted;
    if (!again) {
      const ended = endedBy(end, verdict, context);
      const kept = ended.outcome === outcome ? said : { ...said, endedBy: ended.endedBy };
      return { conclusion: { ...ended, ...kept, evidence, checks }, attempts: attempt };
    }
    violation = outcome === 'policy_violation' ? { ...conclude(outcome, reason), ...said, evidence, checks } : null;
    await loop.goOn(verdict.feedback ?? reason);
  }
}

/** The verdict, or the limit that kept it from being one. */
function endedBy(
  end: LoopEnd,
  { outcome, reason }: { outcome: Outcome; reason: string },
  context: RunContext,
): Conclusion {
  if (outcome === 'verified' || outcome === 'unchecked') {
    if (end.kind !== 'limit') return conclude(outcome, reason);
    if (outcome === 'unchecked') return concludeLimit(end);
    const lacksOutput = context.request.outputSchema !== null;
    return lacksOutput
      ? conclude('invalid_output', `${limitReason(end)} before the agent gave an output`)
      : conclude(outcome, reason);
  }
  if (outcome !== 'unverified') return conclude(outcome, reason);
  if (end.kind === 'limit') return concludeLimit(end);
  return context.stop.aborted && !context.interrupt.aborted ? wallTimeOver(context) : conclude(outcome, reason);
}

function describeEnd(end: LoopEnd, context: RunContext): Pick<Conclusion, 'endedBy' | 'message' | 'risks' | 'output'> {
  if (end.kind === 'limit') return { endedBy: end.limit, message: '', risks: [], output: undefined };
  if (end.kind !== 'finished') return { endedBy: end.kind, message: '', risks: [], output: undefined };
  const { summary, risks } = end.finish;
  return {
    endedBy: 'finish',
    message: summary,
    risks,
    output: context.request.outputSchema === null ? undefined : outputOf(end.finish),
  };
}

function limitReason(end: Extract<LoopEnd, { kind: 'limit' }>): string {
  const used =
    end.limit === 'wall_time'
      ? `${(end.used / 1000).toFixed(1)} s of ${(end.max / 1000).toFixed(1)} s`
      : `${end.used} of ${end.max}`;
  return `the limit ${end.limit} is reached: ${used} used`;
}

function concludeLimit(end: Extract<LoopEnd, { kind: 'limit' }>): Conclusion {
  return conclude('limit_reached', limitReason(end), { endedBy: end.limit });
}

/** Ends that no verification can turn into something else; null for the others. */
function endsWithoutVerdict(end: LoopEnd): Conclusion | null {
  switch (end.kind) {
    case 'interrupted':
      return concludeInterruption('SIGTERM');
    case 'model_failed':
      return conclude('model_failed', end.message, {
        error: { code: end.code, message: end.message, retryable: end.retryable },
      });
    case 'refused':
      return conclude('gave_up', `the model refused: ${end.message}`, { message: end.message });
    case 'invalid_output':
      return conclude('invalid_output', end.message, { endedBy: 'finish' });
    case 'approval':
      return conclude(
        'approval_required',
        `${JSON.stringify(end.action)} needs an approval (rule ${JSON.stringify(end.rule)})`,
        { endedBy: 'approval' },
      );
    case 'finished': {
      const { status, summary, question, risks } = end.finish;
      if (status === 'done') return null;
      const reason =
        status === 'cannot'
          ? `the agent cannot do it: ${summary}`
          : `the agent needs an answer first: ${question ?? summary}`;
      return conclude('gave_up', reason, { endedBy: 'finish', message: summary, question, risks });
    }
    case 'limit':
      return null;
  }
}
