import { createHash } from 'node:crypto';
import type { Changes, Result } from '../events/index.ts';
import { dependencyChanges, reviewAreas, snapshotAnyhow, type TreeId, touchedTests } from '../workspace/index.ts';
import type { Conclusion } from './conclusion.ts';
import { redactBytes } from './known-secrets.ts';
import type { RunContext } from './run-context.ts';
import { tellMovedAside } from './tell-moved-aside.ts';
import { keepPatch, tellTaken } from './tell-taken.ts';
import { writeOutput } from './write-output.ts';

export interface Settled {
  changes: Changes;
  review: Result['review'];
}

export interface Trees {
  /** As the run found the workspace. */
  found: TreeId;
  /** As setup left it: what the change is against. */
  start: TreeId;
}

/** A check without a fence can write in the workspace, and so can whoever else works in it. */
const LATE = {
  name: 'late.patch',
  code: 'changed_late',
  what: 'changed in the workspace after it was judged',
} as const;

function delivers(conclusion: Conclusion, context: RunContext): boolean {
  return (
    (conclusion.outcome === 'verified' || conclusion.outcome === 'unchecked') &&
    context.request.delivery === 'keep-verified'
  );
}

/** Writes the patch, then leaves the change where it is verified and takes it back where it is not. */
export async function settle(context: RunContext, trees: Trees, conclusion: Conclusion): Promise<Settled> {
  const { policy, request, thread, workspace } = context;
  // A run that ended before it brought the thread's work back is about that work all the same.
  const now = context.earlier?.isAway ? context.earlier.tree : await snapshotAnyhow(workspace);
  const final = context.earlier?.isAway ? now : (conclusion.tree ?? now);
  const change = await workspace.diff(trees.start, final);
  const kept = delivers(conclusion, context);
  // A patch that is kept holds no secret that was not there before; one that is rejected is read, not applied.
  const patch = kept ? change.patch : redactBytes(context.redactor, change.patch);
  const stored =
    change.files.length === 0
      ? null
      : await keepPatch(thread, { name: kept ? 'change.patch' : 'rejected.patch', patch });
  const asked = request.files.patch;
  const written = asked !== null && (await writeOutput(asked, patch, { ...context, ground: context })) ? asked : null;
  const restores = !kept && (policy.workspace.onFailure === 'restore' || request.delivery === 'discard');
  if (now !== final) await tellTaken(context, { from: final, to: now, ...LATE });
  const files = restores ? await putBack(context, { final, found: trees.found }) : 0;
  // What is delivered is what was judged.
  if (!restores && now !== final) await workspace.restore(final);
  await tellMovedAside(context);
  // Of what checks left, this alone is neither in the tree nor ignored.
  if (kept && conclusion.tree !== null) await workspace.removeStray();
  // A change that is kept without being verified is gone on with: the ground below it is still needed.
  if (restores || kept) await context.carry.drop();
  if (files > 0) await context.emit({ type: 'workspace.restored', to: 'base', files });
  // The workspace is as it was, also where the patch could not be kept.
  if (stored !== null && 'error' in stored) throw stored.error;
  const patchPath = written ?? (request.ephemeral ? null : (stored?.path ?? null));
  return {
    changes: {
      files: [...change.files],
      patch: patchPath,
      patch_sha256: patch === change.patch ? change.sha256 : createHash('sha256').update(patch).digest('hex'),
      base_commit: workspace.base.commit,
      base_dirty: workspace.base.dirty || trees.start !== trees.found,
      tree: final,
      tests: touchedTests(change.files, policy),
      dependencies:
        policy.workspace.dependencies === 'allow'
          ? []
          : await dependencyChanges(workspace, { from: trees.start, to: final, files: change.files }),
      restored: files > 0,
    },
    review: reviewAreas(change.files, policy),
  };
}

/** The work is on record, and where it is, before a file of it goes: a resumed run brings it back. */
async function putBack(
  { thread, workspace, earlier, carry }: RunContext,
  { final, found }: { final: TreeId; found: TreeId },
): Promise<number> {
  // Also where nothing changed: empty folders and planted repositories are in no tree.
  const restore = async () => {
    const files = (await workspace.restore(found)) + (await workspace.removeUnrecorded());
    await carry.putBack();
    return files;
  };
  if (final === found && !earlier?.isAway) return restore();
  // Where the thread is lost, its patch is what is left of the work.
  const [stashed] = await Promise.allSettled([thread.appendNote({ kind: 'work_stashed', tree: final })]);
  const files = await restore();
  if (stashed.status === 'rejected') throw stashed.reason;
  await thread.appendNote({ kind: 'work_restored', tree: final });
  return files;
}
