import { resolve } from 'node:path';
import type { RunRequest } from '../../run/index.ts';
import type { Invocation } from '../command.ts';
import { handleRun } from '../handle-run.ts';
import { loadOutputSchema } from '../load-output-schema.ts';
import { loadPolicyAloud } from '../load-policy-for.ts';
import { loadReferences } from '../load-references.ts';
import { requireWritable } from '../output-file.ts';
import { readGoal } from '../read-goal.ts';
import { isGiven, listOf, textOf } from '../read-options.ts';
import { streamFiles } from '../stream-files.ts';

async function readRequest({ options, words, io, version }: Invocation): Promise<RunRequest> {
  const cwd = io.cwd();
  const path = (name: string) => {
    const given = textOf(options, name);
    return given === null ? null : resolve(cwd, given);
  };
  const workspace = path('workspace') ?? cwd;
  const goal = await readGoal({ word: words[0] ?? null, file: path('goal-file'), stdin: io.stdin });
  const query = { options, workspace, cwd, env: io.env };
  const { policy, trustRef, location } = await loadPolicyAloud(query, io.stderr);
  const schema = path('output-schema');
  const files = { result: path('result'), patch: path('patch'), message: path('message') };
  for (const [name, file] of Object.entries(files)) if (file !== null) await requireWritable(`--${name}`, file);
  return {
    kind: 'agent',
    version,
    goal,
    policy,
    policyFile: path('policy'),
    floorFile: path('policy-floor'),
    workspace,
    location,
    references: await loadReferences(listOf(options, 'context'), cwd),
    outputSchema: schema === null ? null : await loadOutputSchema(schema),
    replay: path('replay'),
    record: path('record'),
    trustRef,
    ephemeral: isGiven(options, 'ephemeral'),
    files,
    streamFiles: streamFiles(options, io),
    environment: io.env,
    stateDir: null,
    delivery: 'keep-verified',
  };
}

/** `belay run`: one goal to one verdict. */
export const runGoal = handleRun(readRequest);
