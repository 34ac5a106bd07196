import { hasCode, UsageError } from '../errors.ts';
import type { TreeId, Workspace } from './workspace.ts';

/** Whether a snapshot was refused for a name or a mode that a tree cannot hold, or a repository that git stops at. */
export const isUnrecordable = (error: unknown): error is UsageError =>
  error instanceof UsageError && hasCode(error, 'file_name', 'unreadable', 'repository');

/** A snapshot where whoever wrote last may have left names and modes that none can hold: they go, or are opened. */
export const snapshotAnyhow = async (workspace: Pick<Workspace, 'snapshot' | 'makeRecordable'>): Promise<TreeId> => {
  try {
    return await workspace.snapshot();
  } catch (error) {
    if (!isUnrecordable(error)) throw error;
    await workspace.makeRecordable();
    return workspace.snapshot();
  }
};
