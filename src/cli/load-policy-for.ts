import { lstat, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf, UsageError } from '../errors.ts';
import { oneLine } from '../events/index.ts';
import { applyOptions, type LoadedPolicy, loadPolicy, type PolicySource } from '../policy/index.ts';
import { type Location, locateRepository, readCommitted } from '../workspace/index.ts';
import type { Io } from './command.ts';
import { isThere } from './is-there.ts';
import { print } from './print.ts';
import { type GivenOptions, textOf } from './read-options.ts';

const NAME = 'belay.yml';

export interface PolicyQuery {
  options: GivenOptions;
  workspace: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Full id of the commit that stands for HEAD (a batch's job on another one). */
  head?: string;
}

export interface PolicyAnswer {
  policy: LoadedPolicy;
  /** Commit of `--trust-ref`, resolved. */
  trustRef: string | null;
  /** What was found for the workspace; null where it was not asked for. */
  location: Location | null;
  /** What the user should know of where it came from; null when that is as it looks. */
  note: string | null;
}

/**
 * The policy that counts: `--policy` as it is, else belay.yml as the trusted commit has it (`--trust-ref`, else HEAD), else the
 * built-in one; tightened by the floor and by the options given.
 */
async function loadPolicyFor(query: PolicyQuery): Promise<PolicyAnswer> {
  const { options, cwd, env } = query;
  const given = textOf(options, 'policy');
  const ref = textOf(options, 'trust-ref');
  const floorFile = textOf(options, 'policy-floor');
  const floor: PolicySource | null =
    floorFile === null ? null : { kind: 'file', path: resolve(cwd, floorFile), source: floorFile };
  const isCommitted = given === null || ref !== null;
  const location = isCommitted ? await locateRepository({ dir: query.workspace, path: env['PATH'] ?? '' }) : null;
  const { source, file, trustRef, note } = await findSource(query, location, { given, ref });
  const loaded = await loadPolicy(source, floor === null ? {} : { floor });
  const value = (name: string) => {
    const option = options.get(name);
    const text = option?.values[0];
    return option === undefined || text === undefined ? undefined : { text, origin: option.origin };
  };
  const policy = applyOptions(
    { ...loaded, path: file },
    {
      turns: value('turns'),
      attempts: value('attempts'),
      wallTime: value('wall-time'),
      tokens: value('tokens'),
      costUsd: value('cost-usd'),
      model: value('model'),
    },
  );
  if (trustRef === null) refuseInPullRequest(policy, env);
  return { policy, trustRef, location, note: note ?? null };
}

/** The policy that counts, and on stderr what the user should know of it. */
export async function loadPolicyAloud(query: PolicyQuery, stderr: Io['stderr']): Promise<PolicyAnswer> {
  const answer = await loadPolicyFor(query);
  if (answer.note !== null) await print(stderr, `belay: ${oneLine(answer.note, 1000)}\n`);
  return answer;
}

/** The policy file that `belay policy` speaks of: `--policy`, else belay.yml as it lies in the workspace, else the built-in one. */
export async function findPolicyFile(options: GivenOptions, cwd: string): Promise<PolicySource> {
  const given = textOf(options, 'policy');
  if (given !== null) return { kind: 'file', path: resolve(cwd, given), source: given };
  const path = join(resolve(cwd, textOf(options, 'workspace') ?? '.'), NAME);
  return (await isThere(path)) ? { kind: 'file', path, source: NAME } : { kind: 'built-in' };
}

export async function loadPolicyFile(options: GivenOptions, cwd: string): Promise<LoadedPolicy> {
  const floor = textOf(options, 'policy-floor');
  return loadPolicy(
    await findPolicyFile(options, cwd),
    floor === null ? {} : { floor: { kind: 'file', path: resolve(cwd, floor), source: floor } },
  );
}

interface Found {
  source: PolicySource;
  /** Absolute path of the policy's file; null for the built-in one. */
  file: string | null;
  trustRef: string | null;
  note?: string | null;
}

async function findSource(
  { workspace, cwd, head }: PolicyQuery,
  location: Location | null,
  { given, ref }: { given: string | null; ref: string | null },
): Promise<Found> {
  const committed = location === null ? null : await readCommitted({ location, ref: ref ?? head ?? null, name: NAME });
  const trustRef = ref === null || committed === null || committed.kind === 'no_commit' ? null : committed.commit;
  if (given !== null) {
    const path = resolve(cwd, given);
    return { source: { kind: 'file', path, source: given }, file: path, trustRef };
  }
  if (committed === null || committed.kind === 'no_commit') {
    const path = join(workspace, NAME);
    return (await isThere(path))
      ? { source: { kind: 'file', path, source: NAME }, file: path, trustRef }
      : { source: { kind: 'built-in' }, file: null, trustRef };
  }
  if (committed.kind === 'found')
    return {
      source: { kind: 'text', bytes: committed.bytes, source: committed.shown },
      file: committed.file,
      trustRef,
      note: ref === null && head === undefined ? await noteOnChange(committed) : null,
    };
  for (const folder of committed.folders) {
    if (ref === null && head === undefined && (await isThere(join(folder, NAME)))) {
      throw new UsageError(
        `${NAME} is not committed, and a policy never comes from uncommitted text: commit it, or take it as it is with --policy ${NAME}`,
        { code: 'policy' },
      );
    }
  }
  return { source: { kind: 'built-in' }, file: null, trustRef };
}

/** Whoever edits the policy and tries it out must not take the committed one's effect for that of the edit. */
async function noteOnChange(committed: { bytes: Uint8Array; file: string; shown: string }): Promise<string | null> {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8').replaceAll('\r\n', '\n');
  try {
    if (!(await lstat(committed.file)).isFile()) return null;
    if (text(await readFile(committed.file)) === text(committed.bytes)) return null;
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
  return `${NAME} has changes that are not committed and do not count; ${committed.shown} is in force (--policy ${NAME} takes it as it is)`;
}

/** Where the checkout under work may be a stranger's, what would hand it secrets or the machine needs a trusted commit. */
function refuseInPullRequest({ policy }: LoadedPolicy, env: NodeJS.ProcessEnv): void {
  const event = env['GITHUB_EVENT_NAME'] ?? '';
  if (!event.startsWith('pull_request') && env['CI_MERGE_REQUEST_IID'] === undefined) return;
  const refused = strangersWishes(policy);
  if (refused === null) return;
  throw new UsageError(`${refused} is refused in a pull request; name its base by --trust-ref`, {
    code: 'pull_request',
  });
}

/** Names that every CI job has and that tell nothing. */
const PLAIN_NAME = /^(CI|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|NO_COLOR|FORCE_COLOR)$/;

function strangersWishes({ sandbox, setup, verify, model }: LoadedPolicy['policy']): string | null {
  if (sandbox.mode === 'off') return 'sandbox.mode: off';
  if (sandbox.require === 'external') return 'sandbox.require: external';
  if (setup.some((step) => step.env.pass.length > 0)) return 'setup[].env.pass';
  const passed = [...sandbox.env.pass, ...verify.checks.flatMap(({ env }) => env.pass)];
  const secret = passed.find((name) => !PLAIN_NAME.test(name));
  if (secret !== undefined) return `env.pass of ${secret}`;
  if (model === null) return null;
  // Started outside of the fence; read there; sent to whom the policy says.
  if (model.apiKeyCommand !== null) return 'model.api_key_command';
  if (model.apiKeyFile !== null) return 'model.api_key_file';
  if (Object.keys(model.headersEnv).length > 0) return 'model.headers_env';
  if (model.baseUrl !== null && model.apiKeyEnv !== null) return 'model.base_url with model.api_key_env';
  return null;
}
