import { randomBytes } from 'node:crypto';
import type { Event } from './event.ts';
import type { Item } from './item.ts';
import {
  addChatUsage,
  agentAttributes,
  chatContent,
  checkAttributes,
  toolAttributes,
  toolContent,
} from './trace-attributes.ts';
import type { TraceContext } from './trace-context.ts';
import type { Attributes, Span } from './trace-span.ts';

type Open = Omit<Span, 'endMs' | 'error'>;
const TOOLS = new Set<Item['type']>([
  'command_execution',
  'file_change',
  'tool_call',
  'mcp_tool_call',
  'todo_list',
  'denial',
]);

/**
 * Folds a run's events into spans by the conventions for generative AI: `invoke_agent` around `chat`, `execute_tool` and belay's own
 * `check`. Returns the spans that an event ends. `withContent` adds what was said and done, which is off unless asked for.
 */
export function createTraceFold({ context, withContent }: { context: TraceContext; withContent: boolean }) {
  let root: Open | null = null;
  let model = 'unknown';
  let chat: { span: Open; endMs: number | null; said: string[] } | null = null;
  const items = new Map<string, Open>();

  const begin = (name: string, kind: Span['kind'], startMs: number, attributes: Attributes): Open => ({
    spanId: randomBytes(8).toString('hex'),
    parentSpanId: root?.spanId ?? context.parentSpanId,
    name,
    kind,
    startMs,
    attributes,
  });
  const end = (span: Open, endMs: number, error: string | null): Span => {
    const { attributes } = span;
    return {
      ...span,
      endMs: Math.max(endMs, span.startMs),
      error,
      attributes: error === null ? attributes : { ...attributes, 'error.type': error },
    };
  };

  function startItem(event: Extract<Event, { type: 'item.started' | 'item.completed' }>, at: number): Open | null {
    const { item, phase } = event;
    if (item.type === 'check') return begin(`check ${item.name}`, 'internal', at, checkAttributes(item, phase));
    if (!TOOLS.has(item.type)) return null;
    const tool = 'tool' in item && item.tool !== undefined ? item.tool : item.type;
    if (phase === 'agent') return begin(`execute_tool ${tool}`, 'internal', at, toolAttributes(item, tool));
    return begin(phase, 'internal', at, { 'belay.phase': phase });
  }

  function completeItem(event: Extract<Event, { type: 'item.completed' }>, at: number): Span[] {
    const { item, phase } = event;
    if (chat !== null && (item.type === 'agent_message' || item.type === 'reasoning')) {
      chat.endMs = at;
      if (item.type === 'agent_message') chat.said.push(item.text);
    }
    const started = items.get(item.id) ?? startItem(event, at - (item.duration_ms ?? 0));
    items.delete(item.id);
    if (started === null) return [];
    const facts =
      item.type === 'check' ? checkAttributes(item, phase) : { ...started.attributes, ...toolAttributes(item, null) };
    const attributes = { ...facts, ...(withContent ? toolContent(item) : {}) };
    return [end({ ...started, attributes }, at, item.status === 'completed' ? null : item.status)];
  }

  function endChat(event: Extract<Event, { type: 'turn.completed' | 'turn.failed' }>, at: number): Span[] {
    if (chat === null) return [];
    const { span, endMs, said } = chat;
    chat = null;
    const attributes = { ...span.attributes, ...addChatUsage(event.usage), ...(withContent ? chatContent(said) : {}) };
    return [end({ ...span, attributes }, endMs ?? at, event.type === 'turn.failed' ? event.error.code : null)];
  }

  return {
    add(event: Event): Span[] {
      const at = Date.parse(event.time);
      switch (event.type) {
        case 'run.started':
          model = event.model?.name ?? model;
          root = begin('invoke_agent belay', 'internal', at, agentAttributes(event, withContent));
          return [];
        case 'turn.started': {
          const attributes = {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': model,
            'belay.turn': event.turn,
            'belay.attempt': event.attempt,
          };
          const provider = root?.attributes['gen_ai.provider.name'];
          chat = {
            span: begin(`chat ${model}`, 'client', at, {
              ...attributes,
              ...(provider === undefined ? {} : { 'gen_ai.provider.name': provider }),
            }),
            endMs: null,
            said: [],
          };
          return [];
        }
        case 'turn.completed':
        case 'turn.failed':
          return endChat(event, at);
        case 'item.started': {
          // The answer is there when its first call begins.
          if (chat !== null && TOOLS.has(event.item.type)) chat.endMs ??= at;
          const started = startItem(event, at);
          if (started !== null) items.set(event.item.id, started);
          return [];
        }
        case 'item.completed':
          return completeItem(event, at);
        case 'run.completed': {
          const { result } = event;
          const left = [...items.values(), ...(chat === null ? [] : [chat.span])].map((span) =>
            end(span, at, 'cancelled'),
          );
          items.clear();
          chat = null;
          if (root === null) return left;
          const cost: Attributes = result.cost_usd === null ? {} : { 'belay.cost_usd': result.cost_usd };
          const attributes = {
            ...root.attributes,
            ...addChatUsage(result.usage),
            ...cost,
            'belay.outcome': result.outcome,
            'belay.verified': result.verified,
            'belay.evidence': result.evidence,
            'belay.exit_code': result.exit_code,
          };
          return [...left, end({ ...root, attributes }, at, result.exit_code === 0 ? null : result.outcome)];
        }
        default:
          return [];
      }
    },
  };
}
