import { keepEnds } from './keep-ends.ts';
import type { Block, Entry, Section } from './report-view.ts';
import { MAX_BLOCK } from './view-item.ts';

/** What all texts of a report may take, in bytes as they stand in a page. */
const BUDGET_BYTES = 2_500_000;
const LEAST_BLOCK = 256;

/**
 * Keeps the texts of a report within a budget: while there is room, each keeps up to 16 KiB; when it is used up, all of them are cut to
 * half of that, and again, so that a long log shows a little of every step rather than all of the first ones.
 */
export function createTextBudget(kept: () => readonly Section[]) {
  let maxBlock = MAX_BLOCK;
  let bytes = 0;

  function cut(entry: Entry): void {
    if (entry.kind !== 'item') return;
    entry.blocks = entry.blocks.map((block) => cutBlock(block, maxBlock));
  }

  const weigh = (entry: Entry) =>
    entry.kind === 'item' ? entry.blocks.reduce((sum, block) => sum + bytesOf(block.text), 0) : 0;

  return {
    /** `current` is the section that is not yet among the kept ones. */
    admit(entry: Entry, current: Section): void {
      cut(entry);
      bytes += weigh(entry);
      while (bytes > BUDGET_BYTES && maxBlock > LEAST_BLOCK) {
        maxBlock /= 2;
        const entries = [...kept().flatMap((section) => section.entries), ...current.entries, entry];
        for (const one of entries) cut(one);
        bytes = entries.reduce((sum, one) => sum + weigh(one), 0);
      }
    },
  };
}

function cutBlock(block: Block, maxCharacters: number): Block {
  if (block.text.length <= maxCharacters + 3) return block;
  const { text, cutCharacters } = keepEnds(block.text, maxCharacters);
  return { ...block, text, cutCharacters: block.cutCharacters + cutCharacters };
}

/** As UTF-8 with what means something to a page escaped. */
function bytesOf(text: string): number {
  return Buffer.byteLength(text) + 4 * (text.match(/[&<>"']/g)?.length ?? 0);
}
