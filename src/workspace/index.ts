/** workspace/: snapshots, diff, scope, restore, clean room: git with its object store outside the workspace. */
export { joinBytes } from './byte-path.ts';
export { type CarryCapture, captureCarry, copyFolder, layCarry } from './carry.ts';
export { type DependencyQuestion, dependencyChanges } from './dependencies/dependency-changes.ts';
export { isManifestOrLock } from './dependencies/dependency-files.ts';
export { type Cover, createGitView } from './git-view.ts';
export { holdsSame } from './holds-same.ts';
export { carryFolder, copyKeptCarry, createKeptCarry, type KeptCarry } from './kept-carry.ts';
export { linkTarget } from './link-target.ts';
export { gitFolders, type Location, locateRepository } from './locate-repository.ts';
export { type OpenWorkspaceOptions, openWorkspace } from './open-workspace.ts';
export { createPatchBench, type PatchBench } from './patch-bench.ts';
export type { PatchStack } from './patch-stack.ts';
export { isDraft } from './place-file.ts';
export { readAtCommit } from './read-at-commit.ts';
export { type CommittedFile, readCommitted } from './read-committed.ts';
export {
  judgeDependencies,
  judgeScope,
  judgeUnrecorded,
  reviewAreas,
  type ScopePolicy,
  type ScopeViolation,
  touchedTests,
} from './scope.ts';
export { isUnrecordable, snapshotAnyhow } from './snapshot-anyhow.ts';
export { packSnapshots, unpackSnapshots } from './snapshot-pack.ts';
export { hasStarted } from './start-facts.ts';
export { openSnapshots, type StoredSnapshots } from './stored-snapshots.ts';
export type { FoundKind } from './take-found.ts';
export { openTreeSource, type TreeSource } from './tree-source.ts';
export type { BaseState, LaidTree, MovedAside, TreeChange, TreeId, Workspace } from './workspace.ts';
