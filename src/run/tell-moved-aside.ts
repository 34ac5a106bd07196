import type { RunContext } from './run-context.ts';

/** Says of each repository that was taken out of the workspace, and is kept, where it is now. */
export async function tellMovedAside({ emit, workspace }: Pick<RunContext, 'emit' | 'workspace'>): Promise<void> {
  for (const { path, to } of workspace.takeMoved()) {
    const message = `${path}: a repository that the thread did not find at its start, and that an earlier run may have left, is moved to ${to}`;
    await emit({ type: 'error', code: 'moved_aside', message });
  }
}
