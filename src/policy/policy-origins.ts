import type { PolicyText } from './policy-text.ts';

/** Every key that has a value of its own in the effective policy, in the file's order. Lists and maps of names count as one. */
export const POLICY_KEYS = [
  'model.provider',
  'model.name',
  'model.api_key_env',
  'model.api_key_file',
  'model.api_key_fd',
  'model.api_key_command',
  'model.base_url',
  'model.price',
  'model.headers_env',
  'model.api',
  'model.reasoning_effort',
  'model.context_window',
  'model.request_timeout',
  'model.retries',
  'limits.turns',
  'limits.attempts',
  'limits.wall_time',
  'limits.command_time',
  'limits.tokens',
  'limits.cost_usd',
  'limits.tool_calls',
  'limits.repeats',
  'limits.output_bytes',
  'limits.changed_files',
  'limits.changed_lines',
  'workspace.write',
  'workspace.protect',
  'workspace.hide',
  'workspace.tests',
  'workspace.review',
  'workspace.dependencies',
  'workspace.on_failure',
  'sandbox.mode',
  'sandbox.require',
  'sandbox.network',
  'sandbox.env.pass',
  'sandbox.env.set',
  'sandbox.readable',
  'sandbox.services',
  'sandbox.home',
  'sandbox.memory',
  'sandbox.processes',
  'sandbox.file_size',
  'sandbox.disk',
  'sandbox.output',
  'commands.default',
  'commands.deny',
  'commands.ask',
  'commands.allow',
  'approvals',
  'setup',
  'services',
  'verify.checks',
  'verify.require',
  'verify.clean_room.carry',
  'verify.clean_room.freeze',
  'verify.clean_room.pristine_tests',
  'verify.holdout',
  'verify.flaky_retries',
  'context.instructions',
  'context.soften_at',
  'context.compact_at',
  'tools.edit',
  'tools.enable',
  'tools.disable',
  'mcp',
  'plugins',
] as const;

export type PolicyKey = (typeof POLICY_KEYS)[number];

/** `FILE:LINE:COLUMN` of every key that the file gives (list entries as `setup.0.run`), `default` for the rest. */
export function policyOrigins(text: PolicyText, source: string): ReadonlyMap<string, string> {
  const origins = new Map<string, string>(POLICY_KEYS.map((key) => [key, 'default']));
  for (const [place, { key, value }] of text.places) {
    const path: unknown = JSON.parse(place);
    if (!Array.isArray(path) || path.length === 0) continue;
    const { line, column } = text.position(key ?? value);
    origins.set(path.join('.'), source === 'built-in' ? 'default' : `${source}:${line}:${column}`);
  }
  return origins;
}
