import type { Outcome } from '../events/index.ts';
import { createLoop, type Loop, type LoopEnd } from '../loop/index.ts';
import { editFamilyOf } from '../model/index.ts';
import type { ThreadPast } from '../thread/index.ts';
import { createTools } from '../tools/index.ts';
import type { Baseline } from '../verify/index.ts';
import { createAgentPorts, outputOf } from './agent-ports.ts';
import { openApproval, recordDecision, tellDecisions } from './approval.ts';
import { type Conclusion, conclude, concludeInterruption, concludeLimit, limitReason } from './conclusion.ts';
import { layGround, wallTimeOver } from './ground.ts';
import type { Jury } from './jury.ts';
import type { Prepared } from './prepare.ts';
import type { RunContext } from './run-context.ts';
import { startAgentServices } from './start-services.ts';
import { timeForFinalRound } from './time-for-final-round.ts';
import { idle, type Worked } from './worked.ts';

/** Share of a limit at which its use is told. */
const WARN_AT = 0.8;

/** Setup, baseline, then turns and rounds until a verdict. Throws `RunBlockedError` and `UsageError` for what ends it before the agent. */
export async function work(prepared: Prepared, takeSteering: () => readonly string[]): Promise<Worked> {
  const { context, trees, past } = prepared;
  if (context === null || trees === null) throw new Error('bug: work on a run that is not prepared');
  const ended = (conclusion: Conclusion): Worked => ({ ...idle(past), conclusion });
  const suspended = await stayOpen(context, past);
  if (suspended !== null) return ended(suspended);
  const ground = await layGround(prepared);
  if ('outcome' in ground) return ended(ground);
  const { jury, baseline } = ground;
  const resumed = past === null ? null : await decideAndTell(context, past);
  const reserveMs = timeForFinalRound(context, baseline, past);
  if (typeof reserveMs !== 'number') return ended(reserveMs);
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
      past: resumed,
    });
    const loop = createLoop(ports, { interrupt: context.interrupt, deadline: deadline.signal });
    const { conclusion, attempts } = await runAttempts({
      context,
      loop,
      jury,
      baseline,
      startTree: trees.start,
      firstAttempt: (past?.rounds ?? 0) + 1,
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

/** A thread that waits for a person goes on waiting where nobody has decided: nothing is run, and the question is told again. */
async function stayOpen({ request, emit }: RunContext, past: ThreadPast | null): Promise<Conclusion | null> {
  const open = openApproval(past?.pending ?? null);
  if (open === null || request.resume?.decision) return null;
  const { approvalId, action, rule } = open;
  await emit({ type: 'approval.requested', approval_id: approvalId, action, rule });
  return concludeApproval({ kind: 'approval', approvalId, action, rule });
}

/** The word that this run was given, and those that an earlier one did not come to act on. */
async function decideAndTell(context: RunContext, past: ThreadPast): Promise<ThreadPast> {
  const decision = context.request.resume?.decision ?? null;
  const decided = decision === null ? past : await recordDecision(context, past, decision);
  await tellDecisions(context, decided);
  return decided;
}

interface AttemptsSite {
  context: RunContext;
  loop: Loop;
  jury: Jury;
  baseline: Baseline;
  startTree: string;
  firstAttempt: number;
}

/** The agent works, belay verifies; a red round goes back as evidence until it is green or the attempts are used up. */
async function runAttempts({
  context,
  loop,
  jury,
  baseline,
  startTree,
  firstAttempt,
}: AttemptsSite): Promise<{ conclusion: Conclusion; attempts: number }> {
  const { limits, verify } = context.policy;
  let violation: Conclusion | null = null;
  let warned = false;
  for (let attempt = firstAttempt; ; attempt++) {
    if (attempt > 1 && attempt >= WARN_AT * limits.attempts && !warned) {
      warned = true;
      await context.emit({ type: 'limit.warned', limit: 'attempts', used: attempt, max: limits.attempts });
    }
    const { services, missing } = await startAgentServices(context, { touched: loop.tree !== null });
    if (missing !== null) await loop.goOn(`${missing}.`);
    const end = await loop.run(attempt).finally(() => services.stop());
    // Told of a failure when the sandbox is closed: it holds up nothing before.
    context.sandbox.rest().catch(() => undefined);
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
    const { outcome, reason, evidence, checks, tree } = verdict;
    const again =
      verdict.feedback !== null && attempt < limits.attempts && end.kind === 'finished' && !context.stop.aborted;
    if (!again) {
      const ended = endedBy(end, verdict, context);
      const kept = ended.outcome === outcome ? said : { ...said, endedBy: ended.endedBy };
      return { conclusion: { ...ended, ...kept, evidence, checks, tree }, attempts: attempt };
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

function concludeApproval({ action, rule, approvalId }: Extract<LoopEnd, { kind: 'approval' }>): Conclusion {
  const reason = `${JSON.stringify(action)} needs an approval (rule ${JSON.stringify(rule)}): belay resume with --approve ${approvalId} or --deny ${approvalId}`;
  return conclude('approval_required', reason, { endedBy: 'approval' });
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
      return concludeApproval(end);
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
