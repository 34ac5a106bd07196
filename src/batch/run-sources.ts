/** Which of several files the lines of a run are taken from. */
export interface RunSources {
  /** `file` has a line of the run. */
  note(runId: string, file: number): void;
  isFrom(runId: string, file: number): boolean;
}

/** A run may be in several files, whole in one and cut off in another: the one with most of its lines counts, and of two alike the first. */
export function createRunSources(): RunSources {
  const counts = new Map<string, Map<number, number>>();
  return {
    note(runId, file) {
      const mine = counts.get(runId) ?? new Map<number, number>();
      mine.set(file, (mine.get(file) ?? 0) + 1);
      counts.set(runId, mine);
    },
    isFrom(runId, file) {
      const mine = counts.get(runId) ?? new Map<number, number>();
      const most = Math.max(0, ...mine.values());
      const first = Math.min(...[...mine].filter(([, lines]) => lines === most).map(([at]) => at));
      return first === file;
    },
  };
}
