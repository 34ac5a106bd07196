import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { BUILT_IN_TESTS, createMatcher, type VerifyPolicy } from '../../src/policy/index.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import {
  type Baseline,
  type CheckPorts,
  createRooms,
  findHoldouts,
  type Holdouts,
  type Place,
  type Rooms,
  type RoomsOptions,
  type Round,
  RUNNER_CONFIGS,
  runFinalRound,
} from '../../src/verify/index.ts';
import { captureCarry, isManifestOrLock, layCarry, openWorkspace, type Workspace } from '../../src/workspace/index.ts';
import { type Bench, benchOf, type Files, git, openSandbox, tempFolder } from './support.ts';

export interface Site {
  workspace: Workspace;
  sandbox: Sandbox;
  start: string;
  write(files: Files): void;
  path(name: string): string;
  bench(more?: Partial<CheckPorts>): Bench;
  place(phase: Place['phase']): Place;
  /** Rooms with what is ignored now. */
  rooms(verify: VerifyPolicy, more?: Partial<RoomsOptions>): Promise<Rooms>;
  /** The final round on the workspace as it is now. */
  final(
    verify: VerifyPolicy,
    how: { rooms?: Rooms; bench?: Bench; baseline?: Baseline | null; attempted?: string | null; signal?: AbortSignal },
  ): Promise<Round>;
  scratch: string;
  dispose(): Promise<void>;
}

const never = new AbortController().signal;
const tests = createMatcher(BUILT_IN_TESTS);
const configs = createMatcher(RUNNER_CONFIGS);
const matches = {
  test: (p: string) => tests(p) !== null,
  config: (p: string) => configs(p) !== null,
  manifest: isManifestOrLock,
};

/** A committed repository with a workspace, a sandbox and scratch of its own. */
export async function openSite(files: Files, mode: 'off' | 'workspace-write'): Promise<Site> {
  const repository = tempFolder(files);
  const own = tempFolder();
  const root = repository.dir;
  git(root, 'init', '-q');
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'base');
  const workspace = await openWorkspace({ dir: root, storeDir: path.join(own.dir, 'store') });
  const sandbox = await openSandbox(mode, root);
  if (typeof sandbox === 'string') throw new Error(sandbox);
  const start = workspace.base.tree;
  const scratch = path.join(own.dir, 'scratch');
  mkdirSync(scratch);
  const holdoutsOf = (verify: VerifyPolicy): Promise<Holdouts> =>
    findHoldouts(verify.holdout, { policyDir: root, root });

  let opened = 0;
  const site: Site = {
    workspace,
    sandbox,
    start,
    scratch,
    write: repository.write,
    path: (name) => path.join(root, name),
    bench: (more = {}) => benchOf(sandbox, own.dir, more),
    place: (phase) => ({ root, dir: root, mounts: [{ from: root, to: root, access: 'write' }], phase }),
    async rooms(verify, more = {}) {
      const kept = path.join(own.dir, `kept-${opened}`);
      const frozen = path.join(own.dir, `frozen-${opened++}`);
      const { carry, freeze } = verify.cleanRoom;
      const paths = carry === 'auto' ? await workspace.ignoredPaths() : carry;
      await captureCarry({ from: root, to: kept, paths: paths.filter((p) => !freeze.includes(p)) });
      await captureCarry({ from: root, to: frozen, paths: freeze });
      return createRooms({
        workspace,
        tier: sandbox.status.tier,
        scratch,
        async layCarry(roomRoot, what) {
          await layCarry({ from: kept, to: roomRoot });
          if (what.frozen) await layCarry({ from: frozen, to: roomRoot });
        },
        freeze,
        holdouts: (await holdoutsOf(verify)).overlays,
        mounts: [],
        runSetup: async () => ({ kind: 'done' }),
        ...more,
      });
    },
    async final(verify, how) {
      const tree = await workspace.snapshot();
      return runFinalRound(
        {
          workspace,
          rooms: how.rooms ?? (await site.rooms(verify)),
          ports: (how.bench ?? site.bench()).ports,
          verify,
          baseline: how.baseline ?? null,
          attempt: 1,
          tree,
          base: start,
          pristine: start,
          attempted: how.attempted === undefined ? tree : how.attempted,
          matches,
        },
        how.signal ?? never,
      );
    },
    async dispose() {
      await sandbox.close();
      await workspace.close();
      repository.dispose();
      own.dispose();
    },
  };
  return site;
}
