import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import type { Io } from '../command.ts';
import { type ActionFiles, placeFiles } from './action-files.ts';
import { childEnvironment } from './child-environment.ts';
import { decideExitCode } from './fail-on.ts';
import { fetchCommit } from './fetch-commit.ts';
import { loadGithubEvent } from './github-event.ts';
import { type ActionRequest, readInputs, renderArguments } from './read-inputs.ts';
import { refuseForeign } from './refuse-foreign.ts';
import { repositoryOf } from './repository-of.ts';
import { runQuarantined } from './run-quarantined.ts';
import { writeOutputs } from './runner-files.ts';
import { settleAction } from './settle-action.ts';
import { renderWorkflowCommand } from './workflow-command.ts';

interface Prepared {
  request: ActionRequest;
  files: ActionFiles;
  workspace: string;
}

/** The action's step: one run with its output quarantined, then outputs, annotations and summary. Resolves to its exit code. */
export async function runAction(io: Io, cli: string): Promise<number> {
  let prepared: Prepared;
  try {
    prepared = await prepare(io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return refuse(io, error);
  }
  const { request, files, workspace } = prepared;
  await runQuarantined({
    title: 'belay run',
    file: process.execPath,
    args: [cli, 'run', ...renderArguments(request.options)],
    env: childEnvironment(io.env),
    io,
  });
  const checkout = io.cwd();
  const result = await settleAction({
    io,
    cli,
    files,
    keepsThread: !request.options.has('ephemeral'),
    roots: { repository: repositoryOf(workspace) ?? workspace, checkout },
  });
  if (result === null) return 1;
  return decideExitCode(request.failOn, { outcome: result.outcome, exitCode: result.exit_code });
}

async function prepare(io: Io): Promise<Prepared> {
  const cwd = io.cwd();
  const given = readInputs(io.env);
  const workspace = resolve(cwd, given.options.get('workspace')?.[0] ?? '.');
  const event = await loadGithubEvent(io.env);
  refuseForeign(event, given, cwd);
  const options = new Map(given.options);
  if (event.trustRef !== null && !options.has('trust-ref')) {
    await fetchCommit(event.trustRef, workspace, io.env);
    options.set('trust-ref', [event.trustRef]);
  }
  const folder = await mkdtemp(join(io.env['RUNNER_TEMP'] ?? tmpdir(), 'belay-'));
  const files = placeFiles(given, folder, cwd);
  for (const name of ['events', 'result', 'patch', 'message'] as const) options.set(name, [files[name]]);
  if (given.goal !== null) {
    await writeFile(files.goal, given.goal);
    options.set('goal-file', [files.goal]);
  }
  return { request: { ...given, options }, files, workspace };
}

/** Before the run there is no result yet; what follows in the job can still read how it ended. */
async function refuse(io: Io, error: UsageError): Promise<number> {
  io.stdout.write(renderWorkflowCommand('error', { title: 'belay: usage_error' }, error.message));
  const { GITHUB_OUTPUT: outputs = '' } = io.env;
  if (outputs !== '')
    await writeOutputs(outputs, {
      outcome: 'usage_error',
      verified: 'false',
      'exit-code': '2',
      message: '',
      files: '',
    });
  return 2;
}
