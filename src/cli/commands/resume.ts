import { join, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { oneLine } from '../../events/index.ts';
import { type ApprovalDecision, type OutputSchema, type RunRequest, SCHEMA_ARTIFACT } from '../../run/index.ts';
import { openThread, type StoredThread, stateFolder } from '../../thread/index.ts';
import type { Invocation } from '../command.ts';
import { handleRun } from '../handle-run.ts';
import { isThere } from '../is-there.ts';
import { keepLimits } from '../keep-limits.ts';
import { loadOutputSchema } from '../load-output-schema.ts';
import { loadPolicyAloud } from '../load-policy-for.ts';
import { requireWritable } from '../output-file.ts';
import { type GivenOptions, textOf } from '../read-options.ts';
import { streamFiles } from '../stream-files.ts';

/** What the thread was asked for holds where the command line says nothing else. */
async function readRequest({ options, words, io, version }: Invocation): Promise<RunRequest> {
  const thread = await openThread(stateFolder(io.env), words[0] ?? '');
  const cwd = io.cwd();
  const path = (name: string) => {
    const given = textOf(options, name);
    return given === null ? null : resolve(cwd, given);
  };
  const { asked } = thread.meta;
  const workspace = path('workspace') ?? ((await isThere(thread.meta.workspace)) ? thread.meta.workspace : cwd);
  const given = await trustedOptions(thread, options);
  const query = { options: given, workspace, cwd, env: io.env };
  const { policy, trustRef, location } = await loadPolicyAloud(query, io.stderr);
  const files = { result: path('result'), patch: path('patch'), message: path('message') };
  for (const [name, file] of Object.entries(files)) if (file !== null) await requireWritable(`--${name}`, file);
  return {
    kind: 'agent',
    version,
    goal: thread.meta.goal,
    policy: await keepLimits(policy, { thread, options }),
    workspace,
    location,
    references: [],
    outputSchema: await loadKeptSchema(thread),
    replay: path('replay') ?? (options.has('model') ? null : (asked?.cassette ?? null)),
    record: path('record'),
    trustRef,
    ephemeral: false,
    files,
    streamFiles: streamFiles(options, io),
    environment: io.env,
    stateDir: null,
    resume: { threadId: thread.id, decision: decisionOf(options) },
    delivery: 'keep-verified',
  };
}

/**
 * The options given, and what the first run was given to decide what it trusts. Throws UsageError where that is not to be had here and not
 * given anew: a resumed run must not trust more than the first one by an oversight.
 */
async function trustedOptions({ meta }: StoredThread, options: GivenOptions): Promise<GivenOptions> {
  const { policy = null, policy_floor: floor = null, trust_ref: ref = null } = meta.asked ?? {};
  const origin = `thread ${meta.thread_id}`;
  const given = new Map(options);
  for (const { option, value } of meta.asked_elsewhere ?? []) {
    if (given.has(option)) continue;
    throw new UsageError(
      `thread ${meta.thread_id} comes from another machine, where its run was given --${option} ${oneLine(value)}: give resume your own --${option}`,
      { code: 'trust' },
    );
  }
  for (const [option, path] of [['policy', policy] as const, ['policy-floor', floor] as const]) {
    if (path === null || given.has(option)) continue;
    if (!(await isThere(path)))
      throw new UsageError(
        `the file ${path}, which the run was given by --${option}, is gone: name one by --${option}`,
        {
          code: 'trust',
        },
      );
    given.set(option, { values: [path], origin });
  }
  if (ref !== null && !given.has('trust-ref')) given.set('trust-ref', { values: [ref], origin });
  return given;
}

async function loadKeptSchema({ dir, meta }: StoredThread): Promise<OutputSchema | null> {
  const path = join(dir, 'artifacts', SCHEMA_ARTIFACT);
  return (await isThere(path)) ? loadOutputSchema(path, { isForeign: meta.imported_notes !== undefined }) : null;
}

function decisionOf(options: GivenOptions): ApprovalDecision | null {
  const approve = textOf(options, 'approve');
  const deny = textOf(options, 'deny');
  if (approve !== null && deny !== null) throw new UsageError('give --approve or --deny, not both');
  if (approve !== null) return { approvalId: approve, decision: 'approved' };
  return deny === null ? null : { approvalId: deny, decision: 'denied' };
}

/** `belay resume`: a thread goes on where its last run stopped. */
export const resumeRun = handleRun(readRequest);
