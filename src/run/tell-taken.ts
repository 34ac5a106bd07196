import { UsageError } from '../errors.ts';
import { type Emit, nameSome, type Redactor } from '../events/index.ts';
import type { Thread } from '../thread/index.ts';
import type { TreeId, Workspace } from '../workspace/index.ts';
import { redactBytes } from './known-secrets.ts';

export interface TakenSite {
  emit: Emit;
  redactor: Redactor;
  request: { ephemeral: boolean };
  thread: Pick<Thread, 'writeArtifact'>;
  workspace: Pick<Workspace, 'changedPaths' | 'diff'>;
}

export interface Taken {
  from: TreeId;
  /** As the workspace is, before it is put back. */
  to: TreeId;
  /** Of the patch that keeps it. */
  name: string;
  code: 'changed_late' | 'changed_before';
  /** What the paths are, in words. */
  what: string;
}

/** Says which changes are about to be taken out of the workspace, and keeps them as a patch: they have no other record. */
export async function tellTaken(
  { emit, redactor, request, thread, workspace }: TakenSite,
  { from, to, name, code, what }: Taken,
): Promise<void> {
  const paths = (await workspace.changedPaths(from, to)).map(({ path }) => path);
  const diff = await workspace.diff(from, to).catch((error: unknown) => {
    if (!(error instanceof UsageError && error.code === 'too_large')) throw error;
    return null;
  });
  const stored =
    diff === null ? { error: diff } : await keepPatch(thread, { name, patch: redactBytes(redactor, diff.patch) });
  const where = 'path' in stored && !request.ephemeral ? `, and is kept as ${stored.path}` : '';
  await emit({ type: 'error', code, message: `${what}: ${nameSome(paths, MOST_NAMED)}; that is taken back${where}` });
}

const MOST_NAMED = 5;

export async function keepPatch(
  thread: Pick<Thread, 'writeArtifact'>,
  { name, patch }: { name: string; patch: Buffer },
): Promise<{ path: string } | { error: unknown }> {
  try {
    return { path: await thread.writeArtifact(name, patch) };
  } catch (error) {
    return { error };
  }
}
