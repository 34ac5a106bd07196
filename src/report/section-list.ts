import type { Section } from './report-view.ts';

/** Beyond these, sections are left out of the middle. Entries, not sections, are what a reader's machine feels. */
const HEAD_ENTRIES = 1_500;
const TAIL_ENTRIES = 3_500;
/** A section without entries takes room too. */
const weightOf = (section: Section) => section.entries.length + 1;

/** The first and the last sections of a log of any length. */
export function createSectionList() {
  const head: Section[] = [];
  let headWeight = 0;
  let tail: Section[] = [];
  let tailWeight = 0;
  let omitted = 0;

  return {
    /** Takes a section that is complete. */
    push(section: Section): void {
      const weight = weightOf(section);
      if (tail.length === 0 && omitted === 0 && headWeight + weight <= HEAD_ENTRIES) {
        head.push(section);
        headWeight += weight;
        return;
      }
      tail.push(section);
      tailWeight += weight;
      let dropped = 0;
      for (let first = tail[dropped]; tailWeight > TAIL_ENTRIES && first !== undefined; first = tail[dropped]) {
        tailWeight -= weightOf(first);
        dropped++;
      }
      if (dropped > 0) tail = tail.slice(dropped);
      omitted += dropped;
    },
    kept: (): Section[] => [...head, ...tail],
    read: () => ({ sections: [...head, ...tail], omittedSections: omitted, omittedAt: head.length }),
  };
}
