import { createHash } from 'node:crypto';
import { UsageError } from '../errors.ts';
import type { AskedAction } from '../loop/index.ts';
import type { ApprovalNote, DecisionNote, PendingAnswer, ThreadPast } from '../thread/index.ts';
import type { TreeId } from '../workspace/index.ts';
import type { ApprovalDecision } from './request.ts';
import type { RunContext } from './run-context.ts';

interface AskedCall {
  threadId: string;
  turn: number;
  callId: string;
  tool: string;
  /** As it is on record. */
  input: string;
  /** The workspace that the call is meant for. */
  tree: TreeId;
}

/** Enough of the digest that nobody finds another action for an id. */
const DIGEST_DIGITS = 32;

/**
 * The id of a question holds the digest of what is asked: who approves the id approves this action on this tree, and a log that was
 * changed on its way to another machine asks for something else.
 */
function approvalIdOf({ threadId, turn, callId, tool, input, tree }: AskedCall): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([threadId, callId, tool, input, tree]))
    .digest('hex');
  return `approval_${turn}_${digest.slice(0, DIGEST_DIGITS)}`;
}

/** Puts the question on record and tells it. */
export async function askApproval(context: RunContext, { part, turn, action, rule }: AskedAction): Promise<string> {
  const { thread, redactor, workspace, emit } = context;
  const tree = await workspace.snapshot();
  // The log keeps texts redacted and well-formed; a resumed run runs what is on record.
  const input = redactor.redact(part.input).replace(/\p{Surrogate}/gu, '\ufffd');
  const approvalId = approvalIdOf({ threadId: thread.id, turn, callId: part.id, tool: part.name, input, tree });
  await thread.appendNote({ kind: 'approval_asked', turn, approvalId, callId: part.id, action, rule, tree });
  await emit({ type: 'approval.requested', approval_id: approvalId, action, rule });
  return approvalId;
}

/** The question that the thread waits for, or null. */
export function openApproval(pending: PendingAnswer | null): ApprovalNote | null {
  const open = pending?.approvals.filter(({ callId }) => !pending.decisions.has(callId) && !pending.ended.has(callId));
  return open?.at(-1) ?? null;
}

/** Throws UsageError for a word on anything but the question that is open, and where the record is not what was asked for. */
export function checkDecision(
  threadId: string,
  { pending }: ThreadPast,
  { approvalId }: ApprovalDecision,
): ApprovalNote {
  const open = openApproval(pending);
  if (pending === null || open?.approvalId !== approvalId) {
    const waits =
      open === null
        ? 'the thread waits for no approval'
        : `the thread waits for ${open.approvalId} (${JSON.stringify(open.action.slice(0, 200))})`;
    throw new UsageError(
      `there is nothing to decide with the id ${JSON.stringify(approvalId.slice(0, 100))}: ${waits}`,
      {
        code: 'approval',
      },
    );
  }
  const { turn, callId, tree } = open;
  const parts = pending.note.message.role === 'assistant' ? pending.note.message.parts : [];
  const call = parts.find((part) => part.type === 'tool_call' && part.id === callId);
  const isAsIs =
    call?.type === 'tool_call' &&
    approvalIdOf({ threadId, turn, callId, tool: call.name, input: call.input, tree }) === approvalId;
  if (isAsIs) return open;
  throw new UsageError(`the action on record is not the one that ${approvalId} was given for: nothing was run`, {
    code: 'approval_digest',
  });
}

/** Records the word before anything follows from it, once the workspace is the one that was asked about. */
export async function recordDecision(
  context: RunContext,
  past: ThreadPast,
  given: ApprovalDecision,
): Promise<ThreadPast> {
  const { thread } = context;
  const { callId } = checkDecision(thread.id, past, given);
  const note: DecisionNote = { kind: 'approval_decided', callId, ...given };
  await thread.appendNote(note);
  const { pending } = past;
  return pending === null
    ? past
    : { ...past, pending: { ...pending, decisions: new Map([...pending.decisions, [callId, note]]) } };
}

/** Decisions that nothing has followed from yet: told in the run that acts on them, which has to find the workspace as it was. */
export async function tellDecisions(context: RunContext, { pending }: ThreadPast): Promise<void> {
  for (const { approvalId, callId, decision } of pending?.decisions.values() ?? []) {
    const asked = pending?.approvals.find((one) => one.approvalId === approvalId);
    if (asked === undefined || pending?.ended.has(callId) || pending?.begun.has(callId)) continue;
    if (decision === 'approved' && (await context.workspace.snapshot()) !== asked.tree) {
      throw new UsageError(
        `the workspace is not the one that ${approvalId} was given for: put it back as the suspended run left it, then resume`,
        { code: 'approval_tree' },
      );
    }
    const { action, rule } = asked;
    await context.emit({ type: 'approval.resolved', approval_id: approvalId, action, rule, decision });
  }
}
