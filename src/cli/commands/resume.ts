import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { type ApprovalDecision, type OutputSchema, type RunRequest, SCHEMA_ARTIFACT } from '../../run/index.ts';
import { openThread, type StoredThread, stateFolder } from '../../thread/index.ts';
import type { Invocation } from '../command.ts';
import { handleRun } from '../handle-run.ts';
import { keepLimits } from '../keep-limits.ts';
import { loadOutputSchema } from '../load-output-schema.ts';
import { loadPolicyFor } from '../load-policy-for.ts';
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
  const defaults = await askedOptions(thread);
  const given: GivenOptions = new Map([...defaults, ...options]);
  const { policy, trustRef } = await loadPolicyFor({ options: given, workspace, cwd, env: io.env });
  const files = { result: path('result'), patch: path('patch'), message: path('message') };
  for (const [name, file] of Object.entries(files)) if (file !== null) await requireWritable(`--${name}`, file);
  return {
    kind: 'agent',
    version,
    goal: thread.meta.goal,
    policy: await keepLimits(policy, { thread, options }),
    workspace,
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

/** The policy file and the trusted commit of the first run, as options of their own. */
async function askedOptions({ meta }: StoredThread): Promise<GivenOptions> {
  const { policy = null, trust_ref: ref = null } = meta.asked ?? {};
  const origin = `thread ${meta.thread_id}`;
  const options = new Map<string, { values: readonly string[]; origin: string }>();
  if (policy !== null && (await isThere(policy))) options.set('policy', { values: [policy], origin });
  if (ref !== null) options.set('trust-ref', { values: [ref], origin });
  return options;
}

async function loadKeptSchema({ dir }: StoredThread): Promise<OutputSchema | null> {
  const path = join(dir, 'artifacts', SCHEMA_ARTIFACT);
  return (await isThere(path)) ? loadOutputSchema(path) : null;
}

function decisionOf(options: GivenOptions): ApprovalDecision | null {
  const approve = textOf(options, 'approve');
  const deny = textOf(options, 'deny');
  if (approve !== null && deny !== null) throw new UsageError('give --approve or --deny, not both');
  if (approve !== null) return { approvalId: approve, decision: 'approved' };
  return deny === null ? null : { approvalId: deny, decision: 'denied' };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return false;
    throw error;
  }
}

/** `belay resume`: a thread goes on where its last run stopped. */
export const resumeRun = handleRun(readRequest);
