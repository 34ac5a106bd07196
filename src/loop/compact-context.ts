import {
  type CompactionPlan,
  type KeptText,
  renderCut,
  renderDigest,
  renderElided,
  renderHistory,
  renderStandIn,
  renderSummaryRequest,
  SUMMARY_SHARE,
} from '../context/index.ts';
import type { Compaction } from '../thread/index.ts';
import { type AskSite, askModel } from './ask-model.ts';
import { keepTexts } from './keep-texts.ts';
import type { LoopEnd, LoopPorts } from './ports.ts';

export interface CompactSite extends AskSite {
  ports: AskSite['ports'] &
    Pick<LoopPorts, 'openOutput' | 'redactStream' | 'elapsedMs'> & { toolPorts: { workspace: string } };
  attempt: number;
  /** Tree of the last snapshot. */
  tree: string | null;
}

/** What is in every request after a compaction, whatever a model wrote. */
const KEPT = ['goal', 'instructions', 'limits', 'working_directory', 'plan', 'checks', 'last_turns'];
/** A turn for the work and the last one have to be left. */
const MIN_TURNS_LEFT = 3;

/**
 * Makes the context shorter as planned: what leaves it is kept for `read_output` first, then the change is recorded, then made.
 * Returns what ends the loop, or null.
 */
export async function compactContext(plan: CompactionPlan, site: CompactSite): Promise<LoopEnd | null> {
  const { ports } = site;
  const { transcript } = ports;
  const beforeTokens = transcript.estimateTokens();
  const results = await shortenResults(plan, site);
  let standIn: Compaction['standIn'] = null;
  let by: Summary['by'] = 'belay';
  if (plan.keptMessages !== null) {
    const summary = await summarize(plan, plan.keptMessages, site);
    if ('kind' in summary) return summary;
    by = summary.by;
    standIn = await standInOf(summary, plan, plan.keptMessages, site);
  }
  await transcript.compact({ kind: plan.kind, results, standIn, windowTokens: plan.windowTokens });
  await ports.emit({
    type: 'context.compacted',
    kind: plan.kind,
    before_tokens: beforeTokens,
    after_tokens: transcript.estimateTokens(),
    kept: [...KEPT, ...(plan.kind === 'elide' ? ['calls'] : [])],
    ...(standIn === null ? {} : { summary: standIn.summary, summary_by: by }),
  });
  return null;
}

async function shortenResults(plan: CompactionPlan, { ports }: CompactSite): Promise<Compaction['results']> {
  const all = [...plan.elided, ...plan.cut.map(({ result }) => result)];
  const kept = await keepTexts(
    // The whole of an elided one may be kept already, then its cut form need not be.
    all.map((result, i) => (i < plan.elided.length && result.outputId !== undefined ? '' : result.text)),
    ports,
  );
  return all.map((result, i) => {
    const cut = plan.cut[i - plan.elided.length];
    const where: KeptText | null = kept[i] ?? null;
    return {
      callId: result.callId,
      text: cut === undefined ? renderElided(result, where) : renderCut(result, cut.maxBytes, where),
    };
  });
}

interface Summary {
  text: string;
  by: 'model' | 'belay';
}

/** A model's summary where one can be had, else belay's own list. */
async function summarize(plan: CompactionPlan, keptMessages: number, site: CompactSite): Promise<Summary | LoopEnd> {
  const { ports, budget } = site;
  const { transcript } = ports;
  const { summary: earlier } = transcript.standing;
  const dropped = transcript.messagesBefore(keptMessages);
  const digest = renderDigest(dropped);
  const own: Summary = { text: earlier === null ? digest : `${earlier}\n${digest}`, by: 'belay' };
  const bytes = transcript.bytesOfTokens(SUMMARY_SHARE * plan.windowTokens);
  const request = renderSummaryRequest({
    first: transcript.messages[0],
    earlier,
    messages: dropped,
    cacheKey: transcript.request().cacheKey,
    maxBytes: bytes,
  });
  const hit = budget.forbidsAnswer(SUMMARY_SHARE * plan.windowTokens, ports.elapsedMs());
  if (hit !== null || budget.turnsLeft < MIN_TURNS_LEFT) return own;
  const asked = await askModel(request, site.attempt, site);
  if (asked.kind === 'stopped') return asked.end;
  if (asked.kind === 'failed') return own;
  const { answer, turn, costUsd, durationMs } = asked;
  await ports.emit({
    type: 'turn.completed',
    turn,
    attempt: site.attempt,
    usage: answer.usage,
    total_usage: budget.usage,
    cost_usd: costUsd,
    duration_ms: durationMs(),
    snapshot: site.tree,
    changes: [],
  });
  const text = answer.parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim();
  const isWhole = answer.finish === 'stop' || answer.finish === 'other';
  return text !== '' && isWhole ? { text, by: 'model' } : own;
}

async function standInOf(
  { text: summary, by }: Summary,
  plan: CompactionPlan,
  keptMessages: number,
  { ports, budget }: CompactSite,
): Promise<NonNullable<Compaction['standIn']>> {
  const { transcript } = ports;
  const [kept] = await keepTexts(
    [renderHistory(transcript.messagesBefore(keptMessages), Number.MAX_SAFE_INTEGER)],
    ports,
  );
  const { text, summary: bounded } = renderStandIn({
    summary,
    by,
    standing: transcript.standing,
    workspace: ports.toolPorts.workspace,
    limitsLeft: budget.renderLeft(ports.elapsedMs()),
    kept: kept ?? null,
    maxBytes: plan.standInBytes,
  });
  return { text, summary: bounded, keptMessages };
}
