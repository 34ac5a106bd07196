import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { UsageError } from '../../errors.ts';

const Repository = z.looseObject({ full_name: z.string() });
/** As much of a webhook's payload as decides whom the checkout may come from. */
const Payload = z.looseObject({
  repository: Repository.optional(),
  pull_request: z
    .looseObject({ base: z.looseObject({ sha: z.string() }), head: z.looseObject({ repo: Repository.nullable() }) })
    .optional(),
  workflow_run: z.looseObject({ head_repository: Repository.nullable() }).optional(),
  issue: z.looseObject({ pull_request: z.unknown().optional() }).optional(),
  merge_group: z.looseObject({ base_sha: z.string() }).optional(),
});

/** Where the job comes from, as far as it decides what can be trusted. */
export interface GithubEvent {
  name: string;
  /** Commit that policy, instructions and tests are to come from; null where the checkout itself is trusted. */
  trustRef: string | null;
  /** The checkout may be the work of somebody without write access. */
  fromFork: boolean;
  /** The event gives the job secrets, whoever set it off. */
  carriesSecrets: boolean;
}

export async function loadGithubEvent(env: NodeJS.ProcessEnv): Promise<GithubEvent> {
  const name = env['GITHUB_EVENT_NAME'] ?? '';
  const plain = { name, trustRef: null, fromFork: false, carriesSecrets: true };
  const payload = await loadPayload(name, env['GITHUB_EVENT_PATH']);
  if (payload === null) return plain;
  const own = payload.repository?.full_name;
  const isForeign = (repository: { full_name: string } | null) => repository?.full_name !== own || own === undefined;
  if (payload.pull_request !== undefined) {
    const { base, head } = payload.pull_request;
    return {
      name,
      trustRef: base.sha,
      fromFork: isForeign(head.repo),
      carriesSecrets: name === 'pull_request_target' || !name.startsWith('pull_request'),
    };
  }
  // Here GITHUB_SHA is the head of the default branch, whatever the job checks out.
  const trunk = env['GITHUB_SHA'] ?? null;
  if (payload.workflow_run !== undefined)
    return { ...plain, trustRef: trunk, fromFork: isForeign(payload.workflow_run.head_repository) };
  if (payload.issue?.pull_request !== undefined) return { ...plain, trustRef: trunk, fromFork: true };
  if (payload.merge_group !== undefined) return { ...plain, trustRef: payload.merge_group.base_sha };
  return plain;
}

async function loadPayload(name: string, path: string | undefined): Promise<z.infer<typeof Payload> | null> {
  if (path === undefined || path === '') {
    if (!name.startsWith('pull_request')) return null;
    throw new UsageError(
      'GITHUB_EVENT_PATH is not set, so that the base of this pull request is unknown: give trust-ref',
    );
  }
  try {
    return Payload.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    throw new UsageError(`cannot read the event of this job (${path}), which says whose code it is about`, {
      cause: error,
    });
  }
}
