import { posix } from 'node:path';
import { type DecisionResult, explainScript } from './decide-command.ts';
import { createMatcher } from './glob.ts';
import type { Policy } from './policy.ts';

/** Paths are relative to the repository's root, with `/`. */
export type Action =
  | { kind: 'command'; command: string }
  | { kind: 'write'; path: string }
  | { kind: 'read'; path: string };

/**
 * What the policy says of an action: pure, never throws, deny > ask > allow. Early feedback for the model and the trigger of
 * approvals; the sandbox is the boundary. `workspace.write` is judged on the final tree, not here.
 */
export function decide(action: Action, policy: Policy): DecisionResult {
  if (action.kind === 'command') {
    const { decision, rule, reason } = explainScript(action.command, policy.commands);
    return { decision, rule, reason };
  }
  const path = posix.normalize(action.path);
  if (posix.isAbsolute(path) || path === '..' || path.startsWith('../') || path.includes('\0'))
    return { decision: 'deny', rule: 'workspace', reason: `\`${action.path}\` is outside the repository` };
  const [key, globs] =
    action.kind === 'write'
      ? (['protect', policy.workspace.protect] as const)
      : (['hide', policy.workspace.hide] as const);
  const glob = createMatcher(globs)(path);
  if (glob !== null)
    return {
      decision: 'deny',
      rule: `workspace.${key}: ${glob}`,
      reason: `\`${action.path}\` is ${key === 'protect' ? 'protected' : 'hidden'} by the policy`,
    };
  return { decision: 'allow', rule: `workspace.${key}`, reason: 'no entry matches the path' };
}
