import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_PROTECT } from './built-in-lists.ts';
import { MODEL_RULES } from './floor-model-rules.ts';
import { atMost, covers, type FloorRule, type Merge, order, rule, union, within } from './floor-rule.ts';
import { coversEntry } from './host-list.ts';
import type { Limits, NetworkAccess, Policy } from './policy.ts';
import type { PolicyKey } from './policy-origins.ts';

const networkWithin: Merge<NetworkAccess> = (own, floor, stated) => {
  if (own.mode === 'none') return own;
  const hosts = floor.mode === 'none' ? [] : floor.hosts;
  const isCovered = (host: string) => hosts.some((other) => coversEntry(other, host));
  return own.hosts.every(isCovered) ? own : stated ? null : floor;
};

type LimitField = Exclude<keyof Limits, 'costIsExplicit'>;

const limit = (key: PolicyKey, field: LimitField) =>
  rule(
    key,
    ({ limits }) => limits[field],
    (policy, value) => ({
      ...policy,
      limits: { ...policy.limits, [field]: value, costIsExplicit: policy.limits.costIsExplicit || field === 'costUsd' },
    }),
    atMost,
  );

const workspace = <Field extends keyof Policy['workspace']>(
  field: Field,
  key: PolicyKey,
  merge: Merge<Policy['workspace'][Field]>,
) =>
  rule(
    key,
    (policy) => policy.workspace[field],
    (policy, value) => ({ ...policy, workspace: { ...policy.workspace, [field]: value } }),
    merge,
  );

const sandbox = <Field extends keyof Policy['sandbox']>(
  field: Field,
  key: PolicyKey,
  merge: Merge<Policy['sandbox'][Field]>,
) =>
  rule(
    key,
    (policy) => policy.sandbox[field],
    (policy, value) => ({ ...policy, sandbox: { ...policy.sandbox, [field]: value } }),
    merge,
  );

const commands = <Field extends keyof Policy['commands']>(
  field: Field,
  key: PolicyKey,
  merge: Merge<Policy['commands'][Field]>,
) =>
  rule(
    key,
    (policy) => policy.commands[field],
    (policy, value) => ({ ...policy, commands: { ...policy.commands, [field]: value } }),
    merge,
  );

const verify = <Field extends keyof Policy['verify']>(
  field: Field,
  key: PolicyKey,
  merge: Merge<Policy['verify'][Field]>,
) =>
  rule(
    key,
    (policy) => policy.verify[field],
    (policy, value) => ({ ...policy, verify: { ...policy.verify, [field]: value } }),
    merge,
  );

/** Whether what is laid at one path would lie in, or over, what is laid at the other. */
function meet(one: string, other: string): boolean {
  const [a, b] = [one, other].map((to) => `${posix.join('/', to.replace(/\/\*\*$/, ''))}/`.replace(/\/+$/, '/'));
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

export const FLOOR_RULES: readonly FloorRule[] = [
  ...MODEL_RULES,
  limit('limits.turns', 'turns'),
  limit('limits.attempts', 'attempts'),
  limit('limits.wall_time', 'wallTimeMs'),
  limit('limits.command_time', 'commandTimeMs'),
  limit('limits.tokens', 'tokens'),
  limit('limits.cost_usd', 'costUsd'),
  limit('limits.tool_calls', 'toolCalls'),
  limit('limits.repeats', 'repeats'),
  limit('limits.output_bytes', 'outputBytes'),
  limit('limits.changed_files', 'changedFiles'),
  limit('limits.changed_lines', 'changedLines'),
  workspace('write', 'workspace.write', (own, floor, stated) => {
    if (floor.includes('**')) return own;
    return stated ? within(own, floor, true) : floor;
  }),
  workspace('protect', 'workspace.protect', (own, floor) => {
    const extra = own.slice(BUILT_IN_PROTECT.length);
    const ofFloor = floor.slice(BUILT_IN_PROTECT.length);
    if (extra.some((entry) => entry.startsWith('!') && !ofFloor.includes(entry))) return null;
    return [...BUILT_IN_PROTECT, ...union(extra, ofFloor)];
  }),
  workspace('hide', 'workspace.hide', covers),
  workspace('tests', 'workspace.tests', covers),
  workspace('review', 'workspace.review', union),
  workspace('dependencies', 'workspace.dependencies', order('allow', 'report', 'deny')),
  workspace('onFailure', 'workspace.on_failure', order('keep', 'restore')),
  sandbox('mode', 'sandbox.mode', order('off', 'workspace-write', 'read-only')),
  sandbox('require', 'sandbox.require', (own, floor, stated) => {
    if (floor === 'any' || own === floor) return own;
    return stated && own !== 'any' ? null : floor;
  }),
  sandbox('network', 'sandbox.network', networkWithin),
  rule(
    'sandbox.network',
    ({ verify: { checks } }) => checks.map(({ network }) => network),
    (policy) => policy,
    (own, floor) => {
      const allowed = floor.filter((network) => network !== null);
      return own.some(
        (network) => network?.mode === 'allow' && !allowed.some((one) => networkWithin(network, one, true) !== null),
      )
        ? null
        : own;
    },
  ),
  sandbox('env', 'sandbox.env.pass', (own, floor, stated) => {
    const pass = within(own.pass, floor.pass, stated);
    return pass === null ? null : { ...own, pass };
  }),
  rule(
    'sandbox.env.pass',
    ({ verify: { checks } }) => checks.flatMap(({ env }) => env.pass),
    (policy) => policy,
    (own, floor) => (own.every((name) => floor.includes(name)) ? own : null),
  ),
  sandbox('readable', 'sandbox.readable', within),
  sandbox('services', 'sandbox.services', within),
  sandbox('memoryBytes', 'sandbox.memory', atMost),
  sandbox('processes', 'sandbox.processes', atMost),
  sandbox('fileSizeBytes', 'sandbox.file_size', atMost),
  sandbox('diskBytes', 'sandbox.disk', atMost),
  sandbox('outputBytes', 'sandbox.output', atMost),
  commands('default', 'commands.default', order('allow', 'ask', 'deny')),
  commands('deny', 'commands.deny', union),
  commands('ask', 'commands.ask', union),
  commands('allow', 'commands.allow', within),
  rule(
    'approvals',
    ({ approvals }) => approvals,
    (policy, approvals) => ({ ...policy, approvals }),
    order('suspend', 'deny'),
  ),
  rule(
    'setup',
    ({ setup }) => setup,
    (policy, setup) => ({ ...policy, setup }),
    (own, floor) => {
      const passed = new Set(floor.flatMap(({ env }) => env.pass));
      const hosts = floor.flatMap(({ network }) => (network.mode === 'none' ? [] : network.hosts));
      const loose = own.some(
        ({ env, network }) =>
          env.pass.some((name) => !passed.has(name)) ||
          (network.mode === 'allow' && network.hosts.some((host) => !hosts.some((other) => coversEntry(other, host)))),
      );
      return loose ? null : union(own, floor);
    },
  ),
  verify('checks', 'verify.checks', (own, floor) => {
    const changed = own.some((check) =>
      floor.some((other) => other.name === check.name && !isDeepStrictEqual(other, check)),
    );
    return changed ? null : union(own, floor);
  }),
  verify('require', 'verify.require', order('any', 'kept', 'fixed')),
  verify('cleanRoom', 'verify.clean_room.pristine_tests', (own, floor, stated) => {
    if (own.pristineTests || !floor.pristineTests) return own;
    return stated ? null : { ...own, pristineTests: true };
  }),
  verify('cleanRoom', 'verify.clean_room.carry', (own, floor, stated) => {
    if (floor.carry === 'auto') return own;
    const carry = own.carry === 'auto' ? (stated ? null : floor.carry) : within(own.carry, floor.carry, stated);
    return carry === null ? null : { ...own, carry };
  }),
  verify('cleanRoom', 'verify.clean_room.freeze', (own, floor) => ({
    ...own,
    freeze: union(own.freeze, floor.freeze),
  })),
  verify('holdout', 'verify.holdout', (own, floor) => {
    const added = own.filter((one) => !floor.some((other) => isDeepStrictEqual(one, other)));
    return added.some(({ to }) => floor.some((other) => meet(to, other.to))) ? null : union(own, floor);
  }),
  verify('flakyRetries', 'verify.flaky_retries', atMost),
  rule(
    'context.instructions',
    ({ context }) => context.instructions,
    (policy, instructions) => ({ ...policy, context: { ...policy.context, instructions } }),
    order('auto', 'none'),
  ),
  rule(
    'tools.enable',
    ({ tools }) => tools,
    (policy, tools) => ({ ...policy, tools }),
    (own, floor, stated) => {
      const enable = within(own.enable, floor.enable, stated);
      return enable === null ? null : { ...own, enable };
    },
  ),
  rule(
    'tools.disable',
    ({ tools }) => tools,
    (policy, tools) => ({ ...policy, tools }),
    (own, floor) => ({ ...own, disable: union(own.disable, floor.disable) }),
  ),
  rule(
    'services',
    ({ services }) => services,
    (policy) => policy,
    (own, floor) => (own.every((one) => floor.some((other) => isDeepStrictEqual(one, other))) ? own : null),
  ),
  rule(
    'mcp',
    ({ mcp }) => mcp,
    (policy) => policy,
    (own, floor) =>
      Object.entries(own).every(([name, server]) => isDeepStrictEqual(server, floor[name])) ? own : null,
  ),
  rule(
    'plugins',
    ({ plugins }) => plugins,
    (policy, plugins) => ({ ...policy, plugins }),
    within,
  ),
];
