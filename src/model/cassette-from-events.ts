import { UsageError } from '../errors.ts';
import { addUsage, type Event, type Item, NO_USAGE, type Usage } from '../events/index.ts';
import { type CassetteAnswer, renderInput } from './cassette.ts';

type Call = NonNullable<CassetteAnswer['tool_calls']>[number];

interface OpenTurn {
  turn: number;
  sha256: string | undefined;
  purpose: CassetteAnswer['purpose'];
  texts: Map<string, string>;
  reasoning: Map<string, string>;
  /** By call id (item id where there is none), in the order of the calls. */
  calls: Map<string, Call>;
  usage: Usage;
}

/** Statuses of a replayed failure that no repeat can mend. */
const STATUS_OF: Readonly<Record<string, number>> = {
  auth: 401,
  invalid_request: 400,
  not_found: 404,
  context_too_long: 413,
};

/**
 * The answers of a recorded run, rebuilt from its events: a turn is an answer, its agent items that name a `tool` are the calls.
 * Provider state is not there; a summary is the one that came into use. A turn that broke off is an answer if something of it is
 * known. One that a resumed run went on with, or asked for again, is one answer. Throws `UsageError` when the stream had to cut an input: it cannot be replayed.
 */
export async function cassetteFromEvents(events: Iterable<Event> | AsyncIterable<Event>): Promise<CassetteAnswer[]> {
  const answers: CassetteAnswer[] = [];
  let open: OpenTurn | null = null;
  /** Turns that are answers; a resumed run may tell the last one again. */
  const closed: { turn: OpenTurn; at: number }[] = [];
  const close = (turn: OpenTurn, answer: readonly CassetteAnswer[]) => {
    if (answer.length > 0) closed.push({ turn, at: answers.length });
    answers.push(...answer);
  };
  for await (const event of events) {
    switch (event.type) {
      case 'turn.started':
        if (open !== null) close(open, brokenOff(open));
        open = null;
        if (closed.at(-1)?.turn.turn === event.turn) {
          const again = closed.pop();
          answers.length = again?.at ?? 0;
          if (event.request_sha256 === undefined) open = again?.turn ?? null;
        }
        open ??= {
          turn: event.turn,
          sha256: event.request_sha256,
          purpose: event.purpose,
          texts: new Map(),
          reasoning: new Map(),
          calls: new Map(),
          usage: NO_USAGE,
        };
        break;
      case 'item.started':
      case 'item.completed':
        if (open === null || event.phase !== 'agent' || event.turn !== open.turn) break;
        refuseCut(event);
        takeItem(open, event.item);
        break;
      case 'turn.completed': {
        if (open === null) break;
        open.usage = addUsage(open.usage, event.usage);
        const { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens } = open.usage;
        const answer = {
          ...renderTurn(open),
          ...(event.finish === undefined ? {} : { finish: event.finish }),
          usage: { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens },
        };
        close(open, [answer]);
        open = null;
        break;
      }
      case 'turn.failed': {
        const status = STATUS_OF[event.error.code];
        const sha256 = open?.sha256 === undefined ? {} : { request_sha256: open.sha256 };
        const purpose = open?.purpose === undefined ? {} : { purpose: open.purpose };
        if (status !== undefined)
          answers.push({ ...sha256, ...purpose, error: { http_status: status, message: event.error.message } });
        open = null;
        break;
      }
      case 'context.compacted': {
        // The turn of a summary is over; what was said in it is told only here.
        const answer = answers.at(-1);
        if (answer?.purpose !== undefined && event.summary_by === 'model' && event.summary !== undefined)
          answer.text = event.summary;
        break;
      }
      default:
        break;
    }
  }
  if (open !== null) close(open, brokenOff(open));
  return answers;
}

function takeItem({ texts, reasoning, calls }: OpenTurn, item: Item): void {
  if (item.type === 'agent_message') texts.set(item.id, item.text);
  else if (item.type === 'reasoning') reasoning.set(item.id, item.text);
  else if ('tool' in item && item.tool !== undefined) {
    const id = item.call_id;
    const call = { name: item.tool, ...renderInput(item.input), ...(id === undefined ? {} : { id }) };
    // `set` keeps the place of a key that is there: the order in which the calls began.
    calls.set(id ?? item.id, call);
  }
}

function renderTurn({ sha256, purpose, texts, reasoning, calls }: OpenTurn): CassetteAnswer {
  const text = [...texts.values()].join('');
  const thought = [...reasoning.values()].join('');
  return {
    ...(sha256 === undefined ? {} : { request_sha256: sha256 }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(thought === '' ? {} : { reasoning: thought }),
    ...(text === '' ? {} : { text }),
    ...(calls.size === 0 ? {} : { tool_calls: [...calls.values()] }),
  };
}

function brokenOff(turn: OpenTurn): CassetteAnswer[] {
  return turn.texts.size + turn.reasoning.size + turn.calls.size === 0 ? [] : [renderTurn(turn)];
}

function refuseCut(event: Extract<Event, { type: 'item.started' | 'item.completed' }>): void {
  const lost = event.cut?.find(({ path }) => path.startsWith('/item/input') || path === '/item/text');
  if (lost !== undefined) {
    throw new UsageError(
      `the call in item ${event.item.id} was too long for the event stream (${lost.omitted} characters are missing): replay the thread or a --record cassette instead`,
      { code: 'cassette' },
    );
  }
}
