import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { Result } from '../../events/index.ts';
import { policyGlobs, type RunRequest, startVerify } from '../../run/index.ts';
import { createPatchBench, type PatchBench } from '../../workspace/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { handleAsked, sayEnd, sayRefused } from '../handle-run.ts';
import { loadPolicyAloud } from '../load-policy-for.ts';
import { requireWritable } from '../output-file.ts';
import { textOf } from '../read-options.ts';
import { streamFiles } from '../stream-files.ts';

interface Job {
  request: RunRequest;
  /** Lays the tree for `--patch`; null where the workspace is verified as it is. */
  openBench: (() => Promise<PatchBench>) | null;
}

async function readJob({ options, io, version }: Invocation): Promise<Job> {
  const cwd = io.cwd();
  const workspace = resolve(cwd, textOf(options, 'workspace') ?? '.');
  const query = { options, workspace, cwd, env: io.env };
  const { policy, trustRef, location } = await loadPolicyAloud(query, io.stderr);
  const result = textOf(options, 'result');
  if (result !== null) await requireWritable('--result', resolve(cwd, result));
  const request: RunRequest = {
    kind: 'verify',
    version,
    goal: 'verify',
    policy: {
      ...policy,
      policy: { ...policy.policy, model: null, verify: { ...policy.policy.verify, require: 'any' } },
    },
    workspace,
    references: [],
    outputSchema: null,
    replay: [],
    record: null,
    trustRef,
    ephemeral: true,
    files: { result: result === null ? null : resolve(cwd, result), patch: null, message: null },
    streamFiles: streamFiles(options, io),
    environment: io.env,
    stateDir: null,
    delivery: 'keep-verified',
  };
  const openBench = await benchOf({ options, cwd, workspace, path: io.env['PATH'] ?? '' });
  if (openBench === null)
    return {
      request: {
        ...request,
        location,
        policy: {
          ...request.policy,
          policy: { ...request.policy.policy, workspace: { ...policy.policy.workspace, onFailure: 'keep' } },
        },
      },
      openBench,
    };
  return { request: { ...request, policy, delivery: 'discard' }, openBench };
}

async function benchOf({
  options,
  cwd,
  workspace,
  path,
}: {
  options: Invocation['options'];
  cwd: string;
  workspace: string;
  path: string;
}): Promise<Job['openBench']> {
  const patchFile = textOf(options, 'patch');
  const base = textOf(options, 'base');
  const expect = textOf(options, 'expect');
  if (patchFile === null) {
    if (base !== null || expect !== null) throw new UsageError('--base and --expect go with --patch');
    return null;
  }
  if (base === null) throw new UsageError('--patch needs --base: the commit that the patch is for');
  const patch = await readInput(resolve(cwd, patchFile), '--patch');
  const expected = expect === null ? null : parseResult(await readInput(resolve(cwd, expect), '--expect'), expect);
  const digests =
    expected === null
      ? null
      : {
          patchSha256: expected.changes.patch_sha256,
          baseCommit: expected.changes.base_commit,
          tree: expected.changes.tree,
        };
  return () => createPatchBench({ dir: workspace, path, base, patch, expected: digests });
}

async function readInput(path: string, option: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${option}: cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function parseResult(bytes: Buffer, source: string): Result {
  try {
    const result = Result.parse(JSON.parse(bytes.toString('utf8')));
    if (!result.changes.base_dirty) return result;
  } catch (error) {
    throw new UsageError(`--expect: ${source} is no belay.result/v1`, { cause: error });
  }
  throw new UsageError(`--expect: ${source} is about a run on a dirty start, whose base is no commit`);
}

/** The patch's tree lies elsewhere: there, the policy in use is protected by its path in the repository. */
async function onBench(request: RunRequest, bench: PatchBench): Promise<RunRequest> {
  const { path, policy } = request.policy;
  const globs = path === null ? [] : await policyGlobs(path, bench.root);
  const workspace = { ...policy.workspace, protect: [...policy.workspace.protect, ...globs] };
  return { ...request, workspace: bench.dir, policy: { ...request.policy, policy: { ...policy, workspace } } };
}

/** `belay verify`: the checks alone, on the workspace or on a patch in a fresh tree. */
export const verifyWorkspace: Handler = (invocation) =>
  handleAsked(invocation, readJob, async ({ request, openBench }, sinks) => {
    if (openBench === null) return sayEnd(startVerify(request, sinks, null), invocation);
    let bench: PatchBench;
    try {
      bench = await openBench();
    } catch (error) {
      return sayRefused(error, invocation, sinks);
    }
    try {
      return await sayEnd(startVerify(await onBench(request, bench), sinks, bench), invocation);
    } finally {
      await bench.remove();
    }
  });
