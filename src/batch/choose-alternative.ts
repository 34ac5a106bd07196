import { Outcome, type Result } from '../events/index.ts';

/** The best of a job's alternatives: of the verified ones that with the smallest change, else the one that came furthest. */
export function chooseAlternative(results: readonly Result[]): number {
  const order = results.map((result, at) => ({ result, at }));
  order.sort(
    (a, b) =>
      rank(a.result) - rank(b.result) ||
      (a.result.verified ? changedLines(a.result) - changedLines(b.result) : 0) ||
      (a.result.verified ? a.result.changes.files.length - b.result.changes.files.length : 0) ||
      a.at - b.at,
  );
  const best = order[0];
  if (best === undefined) throw new Error('bug: a job without a run');
  return best.at;
}

function rank({ outcome }: Result): number {
  return Outcome.options.indexOf(outcome);
}

export function changedLines({ changes }: Pick<Result, 'changes'>): number {
  return changes.files.reduce((lines, file) => lines + file.added + file.removed, 0);
}
