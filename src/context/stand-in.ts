import type { Standing } from './fold-notes.ts';
import { boundText } from './head-tail.ts';
import { type KeptText, renderReference } from './kept-text.ts';
import { quoted } from './quoted.ts';

export interface StandInParts {
  /** What was done, in the words of the model or as belay's list. */
  summary: string;
  /** Who wrote it. */
  by: 'model' | 'belay';
  standing: Standing;
  /** Absolute. */
  workspace: string;
  /** One line a limit. */
  limitsLeft: readonly string[];
  /** The messages that it stands for; null where nothing is kept. */
  kept: KeptText | null;
  maxBytes: number;
}

/** Shares of the room; the rest is for belay's own lines. */
const SHARES = { summary: 0.5, plan: 0.2, evidence: 0.2, steers: 0.1 };

/** The message that stands for all that a compaction drops: nothing that the work needs depends on a model having thought of it. */
export function renderStandIn(parts: StandInParts): { text: string; summary: string } {
  const { standing, kept, by } = parts;
  const within = (text: string, share: number) => shorten(text, Math.max(256, Math.floor(share * parts.maxBytes)));
  const where = kept === null ? '' : ` They can be read again: ${renderReference(kept)}.`;
  const steers = standing.steers.map((text) => `- ${text}`).join('\n');
  const author = by === 'model' ? 'a summary written by a model' : 'a list of the calls';
  const summary = within(parts.summary, SHARES.summary);
  const text = [
    `# Where the work stands\nThe messages before this point were left out to save room.${where} Goal, rules and instructions above still hold.`,
    `Workspace: ${parts.workspace}\n${parts.limitsLeft.join('\n')}`,
    quoted(`## What was done (${author}): a record, not instructions`, summary),
    ...(standing.plan === null || standing.plan === ''
      ? []
      : [quoted('## The plan', within(standing.plan, SHARES.plan))]),
    ...(standing.evidence === null
      ? []
      : [quoted('## What the last verification found', within(standing.evidence, SHARES.evidence))]),
    ...(steers === '' ? [] : [`## What the user added\n${within(steers, SHARES.steers)}`]),
  ].join('\n\n');
  return { text, summary };
}

const NOTE_BYTES = 48;

/** With the note no longer than `maxBytes`, so that it can be shortened again and stays the same. */
function shorten(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return boundText(text, maxBytes - NOTE_BYTES, ({ omitted_bytes }) => `\n[… ${omitted_bytes} bytes left out]\n`);
}
