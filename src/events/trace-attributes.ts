import type { Event } from './event.ts';
import type { Item, Phase } from './item.ts';
import type { Attributes } from './trace-span.ts';
import type { Usage } from './usage.ts';

/** Of one attribute with content; collectors refuse or cut much larger ones. */
const MAX_CONTENT = 16_384;

/** Names are those of OpenTelemetry's conventions for generative AI (in development, as of v1.41), or begin with `belay.`. */
export function agentAttributes(event: Extract<Event, { type: 'run.started' }>, withContent: boolean): Attributes {
  const { model, goal, sandbox } = event;
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'belay',
    'gen_ai.agent.version': event.belay_version,
    ...(model === null ? {} : { 'gen_ai.provider.name': model.provider, 'gen_ai.request.model': model.name }),
    ...(event.thread_id === '' ? {} : { 'gen_ai.conversation.id': event.thread_id }),
    ...(sandbox === null ? {} : { 'belay.sandbox.tier': sandbox.tier }),
    ...(event.job_id === undefined ? {} : { 'belay.job_id': event.job_id }),
    'belay.run_id': event.run_id,
    ...(withContent && goal !== null ? { 'gen_ai.input.messages': messages('user', goal.text) } : {}),
  };
}

export function addChatUsage(usage: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': usage.input_tokens,
    'gen_ai.usage.output_tokens': usage.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cached_input_tokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning_tokens,
    'belay.requests': usage.requests,
  };
}

export function chatContent(said: readonly string[]): Attributes {
  return said.length === 0 ? {} : { 'gen_ai.output.messages': messages('assistant', said.join('\n')) };
}

/** `tool`: null to leave the name as it is. */
export function toolAttributes(item: Item, tool: string | null): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    ...(tool === null ? {} : { 'gen_ai.tool.name': tool }),
    'gen_ai.tool.type': 'function',
    ...('call_id' in item && item.call_id !== undefined ? { 'gen_ai.tool.call.id': item.call_id } : {}),
    ...(item.type === 'command_execution' && item.exit_code !== null ? { 'belay.exit_code': item.exit_code } : {}),
  };
}

/** What a call was given and gave: foreign text, and often the code under work. */
export function toolContent(item: Item): Attributes {
  const input = 'input' in item ? item.input : undefined;
  const output = 'aggregated_output' in item ? item.aggregated_output : 'output' in item ? item.output : undefined;
  return {
    ...(input === undefined ? {} : { 'gen_ai.tool.call.arguments': JSON.stringify(input).slice(0, MAX_CONTENT) }),
    ...(output === undefined ? {} : { 'gen_ai.tool.call.result': output.slice(0, MAX_CONTENT) }),
  };
}

export function checkAttributes(item: Extract<Item, { type: 'check' }>, phase: Phase): Attributes {
  return {
    'belay.check.name': item.name,
    'belay.phase': phase,
    ...(item.passed === null ? {} : { 'belay.check.passed': item.passed }),
    ...(item.exit_code === null ? {} : { 'belay.exit_code': item.exit_code }),
  };
}

function messages(role: string, text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: text.slice(0, MAX_CONTENT) }] }]);
}
