import { isUnrecordable, type TreeId, type Workspace } from '../workspace/index.ts';

export type ResettableTree = Pick<Workspace, 'snapshot' | 'restore' | 'makeRecordable' | 'hasPlanted'>;

/** Takes back what checks wrote beside ignored files, whatever they called it. */
export async function resetTree(workspace: ResettableTree, tree: TreeId): Promise<void> {
  if (!(await isStill(workspace, tree))) await workspace.restore(tree);
}

async function isStill(workspace: ResettableTree, tree: TreeId): Promise<boolean> {
  try {
    return (await workspace.snapshot()) === tree && !(await workspace.hasPlanted());
  } catch (error) {
    if (!isUnrecordable(error)) throw error;
    await workspace.makeRecordable();
    return false;
  }
}
