/** What only a run that is put back needs, read when it is. */

const loadRestore = () => import('./restore-tree.ts');

export const restoreTree: typeof import('./restore-tree.ts').restoreTree = async (site, tree) =>
  (await loadRestore()).restoreTree(site, tree);

export const refuseInto = async (...about: Parameters<typeof import('./restore-tree.ts').refuseInto>): Promise<void> =>
  (await loadRestore()).refuseInto(...about);

export const makeRecordable: typeof import('./make-recordable.ts').makeRecordable = async (site) =>
  (await import('./make-recordable.ts')).makeRecordable(site);
