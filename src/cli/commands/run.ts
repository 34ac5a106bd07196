import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { type RunRequest, refuseRun, startRun } from '../../run/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { guardRun } from '../guard-run.ts';
import { loadOutputSchema } from '../load-output-schema.ts';
import { loadPolicyFor } from '../load-policy-for.ts';
import { loadReferences } from '../load-references.ts';
import { openStreams } from '../open-streams.ts';
import { requireParentFolder } from '../output-file.ts';
import { describeBug, print } from '../print.ts';
import { readGoal } from '../read-goal.ts';
import { isGiven, listOf, textOf } from '../read-options.ts';

async function readRequest({ options, words, io, version }: Invocation): Promise<RunRequest> {
  const cwd = io.cwd();
  const path = (name: string) => {
    const given = textOf(options, name);
    return given === null ? null : resolve(cwd, given);
  };
  const workspace = path('workspace') ?? cwd;
  const goal = await readGoal({ word: words[0] ?? null, file: path('goal-file'), stdin: io.stdin });
  const { policy, trustRef } = await loadPolicyFor({ options, workspace, cwd, env: io.env });
  const schema = path('output-schema');
  const files = { result: path('result'), patch: path('patch'), message: path('message') };
  for (const [name, file] of Object.entries(files)) if (file !== null) await requireParentFolder(`--${name}`, file);
  return {
    kind: 'agent',
    version,
    goal,
    policy,
    workspace,
    references: await loadReferences(listOf(options, 'context'), cwd),
    outputSchema: schema === null ? null : await loadOutputSchema(schema),
    replay: path('replay'),
    record: path('record'),
    trustRef,
    ephemeral: isGiven(options, 'ephemeral'),
    files,
    environment: io.env,
    stateDir: null,
    delivery: 'keep-verified',
  };
}

/** `belay run`: one goal to one verdict. */
export const runGoal: Handler = async (invocation) => {
  const { io, options, version } = invocation;
  const streams = await openStreams(options, io);
  let request: RunRequest;
  try {
    request = await readRequest(invocation);
  } catch (error) {
    await print(io.stderr, `belay: ${error instanceof UsageError ? error.message : describeBug(error)}\n`);
    const file = textOf(options, 'result');
    const result = await refuseRun(error, {
      version,
      sinks: streams,
      resultFile: file === null ? null : resolve(io.cwd(), file),
    });
    return result.exit_code;
  }
  const run = startRun(request, streams);
  const result = await guardRun(run, io);
  if (result.outcome !== 'verified' && result.outcome !== 'unchecked')
    await print(io.stderr, `belay: ${result.outcome}: ${result.reason}\n`);
  return result.exit_code;
};
