import { type Denial, type Item, type ItemStatus, type Omission, parseJson } from '../events/index.ts';
import type { ToolCallPart, ToolResultPart } from '../model/index.ts';
import { type Finish, parseCall, type Tool, type ToolDetail, type ToolOutcome } from '../tools/index.ts';
import { createCallOutput } from './call-output.ts';
import type { ActionDecision, LoopPorts } from './ports.ts';

/** A call that is known, valid and allowed, or the answer to one that is not. */
export type PreparedCall =
  | { kind: 'ready'; part: ToolCallPart; tool: Tool; input: unknown }
  | { kind: 'finish'; part: ToolCallPart; finish: Finish }
  | { kind: 'rejected'; part: ToolCallPart; reason: string; isOverLimit?: true }
  | { kind: 'denied'; part: ToolCallPart; action: string; decision: ActionDecision; isByPerson?: true };

/** What the calls of one turn share. */
export interface CallSite {
  turn: number;
  ports: LoopPorts;
  signal: AbortSignal;
}

export interface CalledTool {
  result: ToolResultPart;
  denial: Denial | null;
  /** Whether the workspace may look different now. */
  mayHaveChanged: boolean;
  /** It was in flight when an earlier run was killed. */
  isCutOff?: true;
}

type CallFields = { call_id: string; tool: string; input: unknown };

/** What the model wrote, as data where it is valid JSON, as text where it is not. */
export function callFields(part: ToolCallPart): CallFields {
  let input: unknown = part.input;
  try {
    input = parseJson(part.input);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { call_id: part.id, tool: part.name, input };
}

/** Phase one: known? valid? allowed? Nothing has happened yet. `isApproved`: a person allowed what the policy asks about; what it denies stays denied. */
export function prepareCall(part: ToolCallPart, ports: LoopPorts, isApproved = false): PreparedCall {
  const parsed = parseCall(ports.tools, part.name, part.input);
  if (parsed.kind === 'rejected') return { kind: 'rejected', part, reason: parsed.reason };
  const { tool, input } = parsed;
  const detail = tool.describe(input);
  if (detail.type === 'finish') return { kind: 'finish', part, finish: detail.finish };
  const action = tool.action(input);
  const isAllowed = ({ decision }: ActionDecision) => decision === 'allow' || (isApproved && decision === 'ask');
  if (action.kind === 'command') {
    const decision = ports.decide({ kind: 'command', command: action.command });
    if (!isAllowed(decision)) return { kind: 'denied', part, action: action.command, decision };
  }
  if (action.kind === 'write') {
    for (const path of action.paths) {
      const decision = ports.decide({ kind: 'write', path });
      if (!isAllowed(decision)) return { kind: 'denied', part, action: `write ${path}`, decision };
    }
  }
  return { kind: 'ready', part, tool, input };
}

/** Phase two and three for one call: run it, bound its output, keep its end, close its item. */
export async function callTool(call: Exclude<PreparedCall, { kind: 'finish' }>, site: CallSite): Promise<CalledTool> {
  const { turn, ports } = site;
  const id = ports.nextItemId();
  if (call.kind === 'rejected') return rejectCall({ ...call, id, site });
  if (call.kind === 'denied') return denyCall({ ...call, id, site });

  const startedAt = ports.now();
  const fields = callFields(call.part);
  const describe = (detail: ToolDetail, status: ItemStatus): Item => itemOf(detail, { id, status, ...fields });
  await ports.emit({
    type: 'item.started',
    turn,
    phase: 'agent',
    item: describe(call.tool.describe(call.input), 'in_progress'),
  });
  const output = createCallOutput(ports);
  const { outcome, bounded } = await executeCall(call, { site, output }).catch(async (error: unknown) => {
    // A full disk, or a bug: whatever ends the run, the item that was begun ends before.
    const item = describe(call.tool.describe(call.input), 'failed');
    await ports.emit({ type: 'item.completed', turn, phase: 'agent', item });
    throw error;
  });
  const item = describe(outcome.detail, outcome.status);
  const completed = {
    ...withOutput(item, bounded),
    duration_ms: Math.round(ports.now() - startedAt),
  };
  const text = [bounded.text, outcome.note].filter((part) => part !== '').join(bounded.text.endsWith('\n') ? '' : '\n');
  return closeCall(site, completed, {
    result: {
      callId: call.part.id,
      name: call.part.name,
      text: text === '' ? '(no output)' : text,
      isError: outcome.status !== 'completed',
      ...(bounded.outputId === null ? {} : { outputId: bounded.outputId }),
    },
    denial: denialOf(call.part.name, outcome),
    mayHaveChanged: !call.tool.readOnly,
  });
}

async function executeCall(
  { tool, input }: Extract<PreparedCall, { kind: 'ready' }>,
  { site, output }: { site: CallSite; output: ReturnType<typeof createCallOutput> },
) {
  const outcome = await tool.execute(input, { ports: site.ports.toolPorts, output, signal: site.signal });
  return { outcome, bounded: await output.end() };
}

/** The end of a call is on record before anybody hears of it; where it cannot be recorded the item ends all the same, and then the run. */
export async function closeCall({ turn, ports }: CallSite, item: Item, called: CalledTool): Promise<CalledTool> {
  const { result: end, ...rest } = called;
  try {
    await ports.noteCallEnd({ kind: 'call_ended', turn, end, counted: true, ...rest });
  } finally {
    await ports.emit({ type: 'item.completed', turn, phase: 'agent', item });
  }
  return called;
}

/** A tool may find out only while it works that the policy forbids the call (a link into a protected folder). */
function denialOf(name: string, outcome: ToolOutcome): Denial | null {
  const { status, detail } = outcome;
  if (status !== 'declined' || !('error' in detail) || detail.error === null) return null;
  const paths = detail.type === 'file_change' ? detail.changes.map((change) => change.path).join(', ') : detail.summary;
  return { action: `${name} ${paths}`, rule: 'workspace', reason: detail.error };
}

function withOutput(item: Item, bounded: { text: string; omission: Omission | null; outputId: string | null }): Item {
  const where = {
    ...(bounded.omission === null ? {} : { omission: bounded.omission }),
    ...(bounded.outputId === null ? {} : { output_id: bounded.outputId }),
  };
  if (item.type === 'command_execution') return { ...item, ...where, aggregated_output: bounded.text };
  if (item.type === 'tool_call') return { ...item, ...where, output: bounded.text };
  return item;
}

export function itemOf(detail: ToolDetail, common: { id: string; status: ItemStatus } & CallFields): Item {
  switch (detail.type) {
    case 'command_execution':
      return {
        ...common,
        type: 'command_execution',
        command: detail.command,
        aggregated_output: '',
        exit_code: detail.exitCode,
        ...(detail.reason === null ? {} : { reason: detail.reason }),
      };
    case 'file_change':
      return {
        ...common,
        type: 'file_change',
        changes: [...detail.changes],
        ...(detail.error === null ? {} : { error: detail.error }),
      };
    case 'todo_list':
      return { ...common, type: 'todo_list', items: detail.items.map((entry) => ({ ...entry })) };
    case 'tool_call':
      return {
        ...common,
        type: 'tool_call',
        summary: detail.summary,
        ...(detail.error === null ? {} : { error: detail.error }),
      };
    case 'finish':
      return { ...common, type: 'tool_call', summary: detail.finish.summary };
  }
}

interface Closing {
  id: string;
  part: ToolCallPart;
  site: CallSite;
}

/** A call beyond the limit leaves no end on record: it never counted. */
async function rejectCall({
  id,
  part,
  site,
  reason,
  isOverLimit,
}: Closing & { reason: string; isOverLimit?: boolean }): Promise<CalledTool> {
  const item: Item = {
    id,
    type: 'tool_call',
    status: 'failed',
    ...callFields(part),
    summary: part.name,
    error: reason,
    duration_ms: 0,
  };
  const result = { callId: part.id, name: part.name, text: reason, isError: true };
  const called = { result, denial: null, mayHaveChanged: false };
  if (isOverLimit !== true) return closeCall(site, item, called);
  await site.ports.emit({ type: 'item.completed', turn: site.turn, phase: 'agent', item });
  return called;
}

async function denyCall({
  id,
  part,
  site,
  action,
  decision,
  isByPerson,
}: Closing & { action: string; decision: ActionDecision; isByPerson?: true }): Promise<CalledTool> {
  const { rule, reason } = decision;
  const item: Item = {
    id,
    type: 'denial',
    status: 'declined',
    ...callFields(part),
    action,
    rule,
    reason,
    duration_ms: 0,
  };
  const text = `denied by ${isByPerson ? 'a person' : 'the policy'} (${rule}): ${reason}`;
  return closeCall(site, item, {
    result: { callId: part.id, name: part.name, text, isError: true },
    denial: { action, rule, reason },
    mayHaveChanged: false,
  });
}

/** A call that is not run, whatever it is, is told all the same. */
export async function declineCall(
  part: ToolCallPart,
  why: { text: string; status: 'declined' | 'cancelled' },
  { turn, ports }: { turn: number; ports: LoopPorts },
): Promise<void> {
  const item: Item = {
    id: ports.nextItemId(),
    type: 'tool_call',
    status: why.status,
    ...callFields(part),
    summary: part.name,
    error: why.text,
    duration_ms: 0,
  };
  await ports.emit({ type: 'item.completed', turn, phase: 'agent', item });
}

/** Records the `finish` call, so that a stream tells everything the model did; a refused one has an end like any other call. */
export async function recordFinish(
  call: { part: ToolCallPart; finish: Finish; error: string | null },
  { turn, ports }: CallSite,
): Promise<void> {
  const { part, finish, error } = call;
  const item: Item = {
    id: ports.nextItemId(),
    type: 'tool_call',
    status: error === null ? 'completed' : 'failed',
    ...callFields(part),
    summary: finish.summary,
    duration_ms: 0,
    ...(error === null ? {} : { error }),
  };
  if (error !== null) {
    const end = { callId: part.id, name: part.name, text: error, isError: true };
    await ports.noteCallEnd({ kind: 'call_ended', turn, end, denial: null, mayHaveChanged: false, counted: false });
  }
  await ports.emit({ type: 'item.completed', turn, phase: 'agent', item });
}
