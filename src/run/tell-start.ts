import type { Model } from '../model/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { BaseState, Location } from '../workspace/index.ts';
import { buildFacts } from './build-facts.ts';
import type { LoadedInstructions } from './instructions.ts';
import type { RunRequest } from './request.ts';
import { policyFacts, sha256 } from './result.ts';
import type { Session } from './session.ts';

export function nameOf(model: Model | null): { provider: string; name: string } | null {
  return model === null ? null : { provider: model.provider, name: model.name };
}

interface StartFacts {
  request: RunRequest;
  session: Session;
  threadId: string;
  model: Model | null;
  location: Location | null;
  /** null while the files are still being read. */
  base: BaseState | null;
  sandbox: Sandbox | null;
  /** null where none are used, and while they are still being read. */
  instructions: readonly LoadedInstructions[] | null;
  /** The run that this one goes on with. */
  resumedFrom: string | null;
}

/** `run.started`, with null for what is not known, and `thread.started`. */
export async function tellStart(facts: StartFacts): Promise<void> {
  const { request, session, threadId, model, location, base, sandbox, resumedFrom, instructions } = facts;
  const { limits } = request.policy.policy;
  await session.emit({
    type: 'run.started',
    belay_version: request.version,
    ...buildFacts(),
    goal: { text: request.goal, sha256: sha256(request.goal) },
    policy: policyFacts(request.policy),
    model: request.kind === 'verify' ? null : nameOf(model),
    sandbox:
      sandbox === null
        ? null
        : { tier: sandbox.status.tier, reason: sandbox.status.reason, network: sandbox.status.network },
    workspace:
      location === null
        ? null
        : {
            root: location.repository?.root ?? location.dir,
            base_commit: location.repository?.head?.commit ?? null,
            dirty: base === null ? null : base.dirty,
            git: location.repository !== null,
          },
    limits: {
      turns: limits.turns,
      attempts: limits.attempts,
      wall_time_ms: limits.wallTimeMs,
      command_time_ms: limits.commandTimeMs,
      tokens: limits.tokens,
      cost_usd: limits.costUsd,
      tool_calls: limits.toolCalls,
      repeats: limits.repeats,
      output_bytes: limits.outputBytes,
      changed_files: limits.changedFiles,
      changed_lines: limits.changedLines,
    },
    ...(instructions === null
      ? {}
      : { instructions: instructions.map(({ path, bytes, usedBytes }) => ({ path, bytes, used_bytes: usedBytes })) }),
    thread_id: threadId,
    ...(resumedFrom === null ? {} : { resumed_from: resumedFrom }),
  });
  if (threadId !== '') await session.emit({ type: 'thread.started', thread_id: threadId });
}
