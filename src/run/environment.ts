import { UsageError } from '../errors.ts';
import type { Secret } from '../events/index.ts';
import type { EnvironmentRules, LoadedPolicy, Policy } from '../policy/index.ts';

/**
 * Set for every command; rules may override them. PATH, HOME and TMPDIR are the sandbox's. Compiled Python beside its source would be
 * part of the change wherever no ignore file names it.
 */
const FIXED = { TERM: 'dumb', NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1' };

/** A command's environment, by allowlist only: later rules win, `set` wins over `pass`. */
export function buildEnvironment(
  rules: readonly EnvironmentRules[],
  harness: NodeJS.ProcessEnv,
): Record<string, string> {
  const environment: Record<string, string> = { ...FIXED };
  for (const rule of rules) {
    for (const name of rule.pass) {
      const value = harness[name];
      if (value !== undefined) environment[name] = value;
    }
    Object.assign(environment, rule.set);
  }
  return environment;
}

/** The model's key never reaches a command, not even by request. */
export function refuseKeyInEnvironment(policy: Policy, keyNames: readonly string[]): void {
  const rules = [
    policy.sandbox.env,
    ...policy.setup.map((step) => step.env),
    ...policy.verify.checks.map((check) => check.env),
  ];
  for (const name of rules.flatMap((rule) => rule.pass)) {
    if (keyNames.includes(name))
      throw new UsageError(`env.pass: ${name} holds the model's key, which never reaches a command`);
  }
}

/** What only setup is given counts as secret: it is redacted wherever it turns up. */
export function setupSecrets(request: { policy: LoadedPolicy; environment: NodeJS.ProcessEnv }): Secret[] {
  const { setup, sandbox } = request.policy.policy;
  const names = new Set(setup.flatMap((step) => step.env.pass).filter((name) => !sandbox.env.pass.includes(name)));
  return [...names].flatMap((name) => {
    const value = request.environment[name];
    return value === undefined || value === '' ? [] : [{ name, value }];
  });
}
