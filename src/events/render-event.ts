import { type Colors, NO_COLORS } from './colors.ts';
import type { Event } from './event.ts';
import { renderItem } from './render-item.ts';
import { nameOfLimit, renderAmount, renderSeconds, renderTokens } from './render-quantity.ts';
import { renderVerdict } from './render-verdict.ts';
import { oneLine } from './visible-text.ts';

/**
 * What a person wants to see of an event: one or more lines without the last newline, or null for nothing. Foreign text in it is
 * harmless to a terminal and never at the start of a line.
 */
export function renderEvent(event: Event, colors: Colors = NO_COLORS): string | null {
  const { dim, yellow, bold } = colors;
  const warn = (text: string) => yellow(`! ${text}`);
  switch (event.type) {
    case 'run.started':
      return renderStart(event, colors);
    case 'thread.started':
    case 'turn.started':
    case 'turn.completed':
    case 'item.started':
    case 'item.updated':
      return null;
    case 'turn.failed':
      return warn(`turn ${event.turn} failed: ${oneLine(event.error.message)}`);
    case 'item.completed':
      return renderItem(event.item, event.phase, colors);
    case 'verification.started':
      return bold(`checks, attempt ${event.attempt}${event.clean_room ? ', in the clean room' : ''}`);
    case 'verification.completed':
      return event.passed ? colors.green('✓ all required checks pass') : colors.red('✗ the checks do not pass');
    case 'model.retried':
      return warn(`model: ${oneLine(event.reason)}; next try in ${renderSeconds(event.delay_ms)}`);
    case 'context.compacted':
      return dim(`· context: ${renderTokens(event.before_tokens)} → ${renderTokens(event.after_tokens)} tokens`);
    case 'limit.warned':
      return warn(
        `limit ${nameOfLimit(event.limit)}: ${renderAmount(event.limit, event.used)} of ${renderAmount(event.limit, event.max)} used`,
      );
    case 'approval.requested':
      return warn(
        `approval ${oneLine(event.approval_id)} is needed: ${oneLine(event.action)} (${oneLine(event.rule)})`,
      );
    case 'approval.resolved':
      return dim(`· ${event.decision}: ${oneLine(event.action)}`);
    case 'network.allowed':
      return dim(
        `· network: ${oneLine(event.host)}${event.port === null ? '' : `:${event.port}`} (${oneLine(event.rule)})`,
      );
    case 'workspace.restored':
      return dim(
        `· workspace put back to ${event.to === 'base' ? 'its base' : `turn ${event.to}`}: ${event.files} ${event.files === 1 ? 'file' : 'files'}`,
      );
    case 'error':
      return warn(`${oneLine(event.code)}: ${oneLine(event.message, 1000)}`);
    case 'run.completed':
      return renderVerdict(event.result, colors);
  }
}

function renderStart(event: Event & { type: 'run.started' }, { bold, dim }: Colors): string {
  const facts = [
    event.model === null ? null : `${oneLine(event.model.provider)}/${oneLine(event.model.name)}`,
    event.sandbox === null ? null : `sandbox ${oneLine(event.sandbox.tier)}, network ${oneLine(event.sandbox.network)}`,
    event.resumed_from === undefined ? null : `resumed from ${oneLine(event.resumed_from)}`,
  ].filter((fact) => fact !== null);
  const title = `${bold('belay')} ${oneLine(event.belay_version)}${facts.length === 0 ? '' : dim(` · ${facts.join(' · ')}`)}`;
  return event.goal === null ? title : `${title}\ngoal: ${oneLine(event.goal.text, 400)}`;
}
