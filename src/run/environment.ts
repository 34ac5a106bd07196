import { UsageError } from '../errors.ts';
import type { EnvironmentRules, Policy } from '../policy/index.ts';

/** Set for every command; rules may override them. PATH, HOME and TMPDIR are the sandbox's. */
const FIXED = { TERM: 'dumb', NO_COLOR: '1' };

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
