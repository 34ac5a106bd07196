import { oneLine, renderDuration, renderJson, renderTokens } from '../../../events/index.ts';
import {
  openThread,
  readTimeline,
  type StoredThread,
  stateFolder,
  type Timeline,
  type TimelineRun,
  type TimelineTurn,
} from '../../../thread/index.ts';
import type { Handler } from '../../command.ts';
import { print } from '../../print.ts';
import { isGiven, textOf } from '../../read-options.ts';
import { showRequest } from './show-request.ts';

/** `belay thread show THREAD`: what each turn did and changed. */
export const showAction: Handler = async ({ io, options, words: [id = ''] }) => {
  const thread = await openThread(stateFolder(io.env), id);
  const request = textOf(options, 'request');
  if (request !== null) {
    await print(io.stdout, await showRequest(thread, request, isGiven(options, 'json')));
    return 0;
  }
  const timeline = await readTimeline(thread);
  for (const { file, line, reason } of timeline.faults)
    await print(io.stderr, `belay: ${thread.id}: ${file}, line ${line}: ${reason}\n`);
  for await (const fault of thread.checkOutputs()) await print(io.stderr, `belay: ${thread.id}: ${fault}\n`);
  const text = isGiven(options, 'json')
    ? renderJson(toJson(thread, timeline))
    : `${[...renderHead(thread, timeline), ...renderRuns(timeline)].join('\n')}\n`;
  await print(io.stdout, text);
  return 0;
};

function renderHead({ meta }: StoredThread, { position, lastTurn }: Timeline): string[] {
  const fork = meta.forked_from;
  return [
    `thread     ${meta.thread_id}`,
    `goal       ${oneLine(meta.goal)}`,
    `workspace  ${oneLine(meta.workspace)}`,
    `created    ${oneLine(meta.created)}`,
    `format     ${meta.format}, by ${meta.belay_version === undefined ? 'a belay that did not say its version' : `belay ${oneLine(meta.belay_version)}`}`,
    ...(fork === undefined ? [] : [`forked     from turn ${fork.turn} of ${oneLine(fork.thread_id)}`]),
    `stands at  ${position === 0 ? 'the start' : `turn ${position}`} of ${lastTurn} turns`,
  ];
}

function renderRuns({ runs, turns, rollbacks }: Timeline): string[] {
  const lines: string[] = [];
  const rollbacksAfter = (turn: number) =>
    rollbacks
      .filter((rollback) => rollback.lastTurn === turn)
      .map(({ toTurn }) => `  rolled back to ${toTurn === 0 ? 'the start' : `turn ${toTurn}`}`);
  runs.forEach((run, index) => {
    lines.push('', renderRun(run));
    const own = [...turns.values()].filter((turn) => turn.run === index);
    for (const turn of own) lines.push(...renderTurn(turn), ...rollbacksAfter(turn.turn));
  });
  lines.push(...rollbacksAfter(0));
  return lines;
}

function renderRun({ runId, startedAt, model, outcome, reason, resumedFrom }: TimelineRun): string {
  const end = outcome === null ? 'not ended' : `${outcome}: ${oneLine(reason ?? '')}`;
  const resumed = resumedFrom === null ? '' : ', resumed';
  return `run ${oneLine(runId)}  ${startedAt}${resumed}  ${oneLine(model ?? 'no model')}  ${end}`;
}

const ITEM_LENGTH = 120;
const SIGNS = { add: '+', update: '~', delete: '-' } as const;

function renderTurn(turn: TimelineTurn): string[] {
  const { usage, durationMs, tree } = turn;
  const facts = [
    `attempt ${turn.attempt}`,
    ...(turn.purpose === 'work' ? [] : ['a summary of the past']),
    ...(turn.status === 'completed' ? [] : [turn.status]),
    ...(turn.parent === turn.turn - 1 ? [] : [`after turn ${turn.parent}`]),
    ...(usage === null ? [] : [`${renderTokens(usage.input_tokens + usage.output_tokens)} tokens`]),
    ...(durationMs === null ? [] : [renderDuration(durationMs)]),
    ...(tree === null ? [] : [`tree ${tree.slice(0, 12)}`]),
  ];
  return [
    `  turn ${turn.turn}  ${facts.join(', ')}`,
    ...turn.items.map(({ type, status, text }) => {
      const state = status === 'completed' ? '' : ` [${status}]`;
      return `    ${type}${state}  ${oneLine(text, ITEM_LENGTH)}`;
    }),
    ...turn.changes.map(({ kind, path }) => `    ${SIGNS[kind]} ${oneLine(path)}`),
  ];
}

function toJson({ meta }: StoredThread, timeline: Timeline) {
  return {
    thread_id: meta.thread_id,
    goal: meta.goal,
    workspace: meta.workspace,
    created: meta.created,
    format: meta.format,
    belay_version: meta.belay_version ?? null,
    forked_from: meta.forked_from ?? null,
    position: timeline.position,
    last_turn: timeline.lastTurn,
    runs: timeline.runs.map((run) => ({
      run_id: run.runId,
      started_at: run.startedAt,
      resumed_from: run.resumedFrom,
      model: run.model,
      outcome: run.outcome,
      reason: run.reason,
      final_tree: run.finalTree,
    })),
    turns: [...timeline.turns.values()].map((turn) => ({
      turn: turn.turn,
      attempt: turn.attempt,
      purpose: turn.purpose,
      run_id: timeline.runs[turn.run]?.runId ?? null,
      status: turn.status,
      after_turn: turn.parent,
      snapshot: turn.tree,
      changes: turn.changes,
      usage: turn.usage,
      cost_usd: turn.costUsd,
      duration_ms: turn.durationMs,
      request_sha256: turn.requestSha256,
      items: turn.items,
    })),
    rollbacks: timeline.rollbacks.map((rollback) => ({
      after_turn: rollback.lastTurn,
      from_turn: rollback.fromTurn,
      to_turn: rollback.toTurn,
      tree: rollback.tree,
      before: rollback.before,
    })),
  };
}
