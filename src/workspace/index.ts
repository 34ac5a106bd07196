/** workspace/: snapshots, diff, scope, restore, clean room: git with its object store outside the workspace. */
export type * from './workspace.ts';
