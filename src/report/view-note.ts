import { type Event, nameOfLimit, renderAmount, renderSeconds } from '../events/index.ts';
import { keepEnds } from './keep-ends.ts';
import type { NoteView } from './report-view.ts';

const MAX_TEXT = 600;

/** What happened between items, in one line; null for events that have a place of their own. */
export function viewNote(event: Event): NoteView | null {
  const text = wordsOf(event);
  if (text === null) return null;
  return { kind: 'note', tone: toneOf(event), text: keepEnds(text, MAX_TEXT).text };
}

function wordsOf(event: Event): string | null {
  switch (event.type) {
    case 'model.retried': {
      const status = event.http_status === undefined ? '' : ` (HTTP ${event.http_status})`;
      return `The model did not answer${status}: ${event.reason}. Next try in ${renderSeconds(event.delay_ms)}.`;
    }
    case 'context.compacted':
      return `Older messages were ${event.kind === 'elide' ? 'shortened' : 'summarised'}: ${event.before_tokens} → ${event.after_tokens} tokens.`;
    case 'limit.warned':
      return `Near a limit: ${renderAmount(event.limit, event.used)} of ${renderAmount(event.limit, event.max)} ${nameOfLimit(event.limit)} used.`;
    case 'approval.requested':
      return `A person has to approve: ${event.action} (${event.rule}).`;
    case 'approval.resolved':
      return `${event.decision === 'approved' ? 'Approved' : 'Refused'} by a person: ${event.action} (${event.rule}).`;
    case 'workspace.restored':
      return `The workspace was put back to ${event.to === 'base' ? 'its start' : `turn ${event.to}`}: ${event.files} ${event.files === 1 ? 'file' : 'files'}.`;
    case 'error':
      return `${event.code}: ${event.message}`;
    default:
      return null;
  }
}

function toneOf(event: Event): NoteView['tone'] {
  if (event.type === 'error') return 'bad';
  return event.type === 'context.compacted' || event.type === 'workspace.restored' ? 'info' : 'warning';
}
