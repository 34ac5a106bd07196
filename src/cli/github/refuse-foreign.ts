import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { isWithin } from '../../sandbox/index.ts';
import { followed } from '../followed.ts';
import type { GithubEvent } from './github-event.ts';
import type { ActionRequest } from './read-inputs.ts';
import { repositoryOf } from './repository-of.ts';

/** Inputs whose files decide what happens; `context` and cassettes are data and may be anybody's. */
const DECIDING = ['policy', 'policy-floor', 'goal-file', 'output-schema'];

/**
 * On code from a fork: no run at all where the event carries secrets and the workflow does not say otherwise, and never a
 * policy, goal or schema from the fork's own files.
 */
export function refuseForeign(event: GithubEvent, request: ActionRequest, cwd: string): void {
  if (!event.fromFork) return;
  if (event.carriesSecrets && !request.forksAllowed)
    throw new UsageError(
      `${event.name} gives this job secrets, and the code may come from a fork: use the event pull_request, or say allow-forks: true after reading docs/github-actions.md`,
    );
  const workspace = resolve(cwd, request.options.get('workspace')?.[0] ?? '.');
  for (const name of DECIDING) {
    const [file] = request.options.get(name) ?? [];
    if (file === undefined) continue;
    if (isWithin(followed(repositoryOf(workspace) ?? workspace), followed(resolve(cwd, file))))
      throw new UsageError(
        `input ${name}: ${file} is a file of a checkout that may come from a fork; take it from another folder (belay.yml itself is read from the trusted commit)`,
      );
  }
}
