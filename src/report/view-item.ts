import type { Item } from '../events/index.ts';
import { detach, keepEnds } from './keep-ends.ts';
import type { Block, ItemView } from './report-view.ts';

const MAX_TITLE = 240;
const MAX_NOTE = 600;
/** Of one text; the fold cuts further where a log has very many. */
export const MAX_BLOCK = 16_384;

/** An item of the log, bounded and in one shape for all types. */
export function viewItem(item: Item): ItemView {
  return {
    kind: 'item',
    type: item.type,
    status: item.status,
    durationMs: item.duration_ms ?? null,
    ...describe(item),
  };
}

type Description = Pick<ItemView, 'title' | 'note' | 'blocks'>;

function describe(item: Item): Description {
  switch (item.type) {
    case 'agent_message':
    case 'reasoning':
      return { title: title(item.text), note: null, blocks: blocks(['', 'prose', item.text]) };
    case 'command_execution':
      return {
        title: title(item.command),
        note: note(item.reason ?? exitNote(item.exit_code)),
        blocks: blocks(['command', 'output', longCommand(item.command)], ['output', 'output', item.aggregated_output]),
      };
    case 'file_change':
      return {
        title: title(item.changes.map((change) => change.path).join(', ')),
        note: note(item.error),
        blocks: editBlocks(item.input),
      };
    case 'mcp_tool_call':
      return {
        title: title(`${item.server}: ${item.tool ?? 'tool'}`),
        note: note(item.error),
        blocks: blocks(['arguments', 'output', asText(item.arguments)], ['result', 'output', asText(item.result)]),
      };
    case 'todo_list':
      return {
        title: `${item.items.filter((step) => step.completed).length} of ${item.items.length} steps done`,
        note: null,
        blocks: blocks([
          'plan',
          'output',
          item.items.map((step) => `${step.completed ? '✓' : '·'} ${step.text}`).join('\n'),
        ]),
      };
    case 'error':
      return { title: title(item.message), note: null, blocks: [] };
    case 'tool_call':
      return {
        title: title(item.summary),
        note: note(item.error),
        blocks: blocks(['input', 'output', inputText(item.input)], ['output', 'output', item.output ?? '']),
      };
    case 'check':
      return {
        title: title(item.name),
        note: note(item.reason ?? (item.passed === true ? undefined : exitNote(item.exit_code))),
        blocks: blocks(['command', 'output', item.command], ['output', 'output', item.aggregated_output]),
      };
    case 'service':
      return {
        title: title(item.name),
        note: note(item.reason),
        blocks: blocks(['command', 'output', item.command], ['output', 'output', item.aggregated_output]),
      };
    case 'denial':
      return {
        title: title(item.action),
        note: note(`${item.rule}: ${item.reason}`),
        blocks: blocks(['what was asked for', 'output', longCommand(item.action)]),
      };
  }
}

/** What an edit tool was given: a patch, a replacement, or a whole file. Foreign: any shape may come. */
function editBlocks(input: unknown): Block[] {
  const { patch, old_text: before, new_text: after, content } = fieldsOf(input);
  if (typeof patch === 'string') return blocks(['patch', 'diff', patch]);
  if (typeof before === 'string' && typeof after === 'string')
    return blocks(['replacement', 'diff', `${prefixed('-', before)}\n${prefixed('+', after)}`]);
  if (typeof content === 'string') return blocks(['new content', 'diff', prefixed('+', content)]);
  return blocks(['input', 'output', inputText(input)]);
}

const prefixed = (sign: string, text: string) =>
  keepEnds(text, MAX_BLOCK)
    .text.split('\n')
    .map((line) => sign + line)
    .join('\n');

function fieldsOf(input: unknown): Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? { ...input } : {};
}

/** Nothing where the one-line summary says it all: a single short text. */
function inputText(input: unknown): string {
  const fields = Object.entries(fieldsOf(input));
  if (fields.length === 1 && typeof fields[0]?.[1] === 'string' && fields[0][1].length < 120) return '';
  return asText(input);
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** A command that its title shows whole is not repeated. */
const longCommand = (command: string) => (command.length > MAX_TITLE || command.includes('\n') ? command : '');

const exitNote = (exitCode: number | null) =>
  exitCode === null || exitCode === 0 ? undefined : `exit code ${exitCode}`;

const title = (text: string) =>
  detach(keepEnds(text.trim().split('\n', 1)[0] ?? '', MAX_TITLE).text).replaceAll('\n', ' ');

const note = (text: string | undefined) => (text === undefined ? null : keepEnds(text, MAX_NOTE).text);

function blocks(...given: readonly [string, Block['kind'], string][]): Block[] {
  return given
    .filter(([, , text]) => text.trim() !== '')
    .map(([label, kind, text]) => ({ label, kind, ...keepEnds(text, MAX_BLOCK) }));
}
