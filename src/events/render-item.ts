import type { Colors } from './colors.ts';
import type { Item, Phase } from './item.ts';
import { renderDuration } from './render-quantity.ts';
import { oneLine, quoteLines } from './visible-text.ts';

/** Of a failed command's or check's output, its end. */
const TAIL_LINES = 8;
const MESSAGE_LINES = 40;

/** A finished item in one line, with its words or the end of its output below. */
export function renderItem(item: Item, phase: Phase, colors: Colors): string | null {
  const { dim, yellow, red, green, cyan } = colors;
  const where = phase === 'agent' ? '' : dim(`[${phase}] `);
  const time = item.duration_ms === undefined ? '' : dim(` ${renderDuration(item.duration_ms)}`);
  const ill = item.status === 'completed' ? '' : red(` ${item.status.replace('_', ' ')}`);
  switch (item.type) {
    case 'agent_message':
      return item.text.trim() === '' ? null : quoteLines(item.text, { prefix: cyan('│ '), maxLines: MESSAGE_LINES });
    case 'reasoning':
      return null;
    case 'command_execution': {
      const exit = item.exit_code === null || item.exit_code === 0 ? '' : red(` exit ${item.exit_code}`);
      const reason = item.reason === undefined ? '' : ` (${oneLine(item.reason)})`;
      const line = `${where}$ ${oneLine(item.command)}${exit === '' ? ill : exit}${reason}${time}`;
      return item.status === 'completed' ? line : withTail(line, item.aggregated_output, dim);
    }
    case 'file_change': {
      const paths = item.changes.map((change) => oneLine(change.path));
      const error = item.error === undefined ? '' : `: ${oneLine(item.error)}`;
      return `${where}± ${paths.length === 0 ? 'no file' : paths.join(', ')}${ill}${error}`;
    }
    case 'tool_call':
      return `${where}${dim(`· ${oneLine(item.summary)}`)}${ill}${item.error === undefined ? '' : `: ${oneLine(item.error)}`}`;
    case 'mcp_tool_call':
      return `${where}${dim(`· ${oneLine(item.server)}: ${oneLine(item.tool ?? 'tool')}`)}${ill}${time}`;
    case 'todo_list':
      return dim(`· plan: ${item.items.filter((step) => step.completed).length} of ${item.items.length} done`);
    case 'check': {
      const mark = item.passed === true ? green('✓') : item.passed === false ? red('✗') : yellow('–');
      const reason = item.reason === undefined ? '' : ` (${oneLine(item.reason)})`;
      const line = `${where}${mark} ${oneLine(item.name)}${reason}${time}`;
      return item.passed === true ? line : withTail(line, item.aggregated_output, dim);
    }
    case 'service': {
      const reason = item.reason === undefined ? '' : ` (${oneLine(item.reason)})`;
      const line = `${where}${dim(`· service ${oneLine(item.name)}`)}${ill}${reason}${time}`;
      return item.status === 'completed' ? line : withTail(line, item.aggregated_output, dim);
    }
    case 'denial':
      return yellow(`! denied: ${oneLine(item.action)} (${oneLine(item.rule)}: ${oneLine(item.reason)})`);
    case 'error':
      return yellow(`! ${oneLine(item.message, 1000)}`);
  }
}

function withTail(line: string, output: string, dim: Colors['dim']): string {
  const lines = output.trimEnd().split('\n');
  if (lines.length === 1 && lines[0] === '') return line;
  return `${line}\n${quoteLines(lines.slice(-TAIL_LINES).join('\n'), { prefix: dim('  │ '), maxLines: TAIL_LINES })}`;
}
