import * as z from 'zod';
import { UsageError } from '../errors.ts';
import type { Limits, LoadedPolicy, ModelPolicy } from './policy.ts';
import { LIMIT_FIELDS } from './policy-file-limits.ts';
import { isProvider, PROVIDERS } from './policy-file-model.ts';
import { renderDuration } from './quantity.ts';

/** A value as the user gave it, and where: `option --turns`, `environment BELAY_TURNS`. */
export interface OptionValue {
  text: string;
  origin: string;
}

export interface PolicyOptions {
  turns?: OptionValue | undefined;
  attempts?: OptionValue | undefined;
  wallTime?: OptionValue | undefined;
  tokens?: OptionValue | undefined;
  costUsd?: OptionValue | undefined;
  /** Of a batch's job alone: there is no option for it. */
  toolCalls?: OptionValue | undefined;
  model?: OptionValue | undefined;
}

interface LimitOption {
  option: Exclude<keyof PolicyOptions, 'model'>;
  key: string;
  field: keyof Limits & ('turns' | 'attempts' | 'wallTimeMs' | 'tokens' | 'costUsd' | 'toolCalls');
  schema: z.ZodType<number>;
  render(value: number): string;
}

const LIMIT_OPTIONS: readonly LimitOption[] = [
  { option: 'turns', key: 'limits.turns', field: 'turns', schema: numeric(LIMIT_FIELDS.turns), render: String },
  {
    option: 'attempts',
    key: 'limits.attempts',
    field: 'attempts',
    schema: numeric(LIMIT_FIELDS.attempts),
    render: String,
  },
  {
    option: 'wallTime',
    key: 'limits.wall_time',
    field: 'wallTimeMs',
    schema: LIMIT_FIELDS.wall_time,
    render: renderDuration,
  },
  { option: 'tokens', key: 'limits.tokens', field: 'tokens', schema: numeric(LIMIT_FIELDS.tokens), render: String },
  {
    option: 'costUsd',
    key: 'limits.cost_usd',
    field: 'costUsd',
    schema: numeric(LIMIT_FIELDS.cost_usd),
    render: String,
  },
  {
    option: 'toolCalls',
    key: 'limits.tool_calls',
    field: 'toolCalls',
    schema: numeric(LIMIT_FIELDS.tool_calls),
    render: String,
  },
];

/** The text of a plain decimal number, then `schema`. */
function numeric(schema: z.ZodType<number, number>): z.ZodType<number> {
  return z
    .string()
    .transform((text) => (/^\d{1,15}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN))
    .pipe(schema);
}

/** The policy with the command line's limits, which may only tighten it, and its model. Throws UsageError for any other value. */
export function applyOptions(loaded: LoadedPolicy, options: PolicyOptions): LoadedPolicy {
  const limits: Limits = { ...loaded.policy.limits };
  const origins = new Map(loaded.origins);
  for (const limit of LIMIT_OPTIONS) {
    const given = options[limit.option];
    if (given === undefined) continue;
    limits[limit.field] = tighten(limit, given, loaded);
    if (limit.field === 'costUsd') limits.costIsExplicit = true;
    origins.set(limit.key, given.origin);
  }
  const model = options.model === undefined ? loaded.policy.model : chooseModel(options.model, loaded.policy.model);
  if (options.model !== undefined) {
    const own =
      model?.provider === loaded.policy.model?.provider ? ['provider', 'name', 'price', 'context_window'] : MODEL_KEYS;
    for (const key of own)
      origins.set(`model.${key}`, key === 'provider' || key === 'name' ? options.model.origin : 'default');
  }
  return { ...loaded, policy: { ...loaded.policy, limits, model }, origins };
}

function tighten(limit: LimitOption, given: OptionValue, loaded: LoadedPolicy): number {
  const parsed = limit.schema.safeParse(given.text);
  const shown = JSON.stringify(given.text.slice(0, 60));
  if (!parsed.success)
    throw new UsageError(
      `${given.origin}: ${shown} is not valid; ${parsed.error.issues[0]?.message ?? 'expected a limit'}`,
    );
  const max = loaded.policy.limits[limit.field];
  if (parsed.data <= max) return parsed.data;
  const where = loaded.origins.get(limit.key) ?? 'default';
  throw new UsageError(
    `${given.origin}: ${limit.render(parsed.data)} is looser than \`${limit.key}: ${limit.render(max)}\` (${where}); options can only tighten the policy, so raise the limit there`,
  );
}

const MODEL_KEYS = [
  'provider',
  'name',
  'api_key_env',
  'api_key_file',
  'api_key_fd',
  'api_key_command',
  'base_url',
  'price',
  'headers_env',
  'api',
  'reasoning_effort',
  'context_window',
  'request_timeout',
  'retries',
];

/** `PROVIDER/NAME`: a scoped package has a `/` of its own, and a name may have more of them. */
export function parseModelName(text: string): { provider: string; name: string } | null {
  const match = /^(@[^/]+\/[^/]+|[^@/][^/]*)\/(.+)$/.exec(text);
  const [, provider, name] = match ?? [];
  return provider === undefined ||
    name === undefined ||
    name.length > 200 ||
    /\p{C}/u.test(name) ||
    !isProvider(provider)
    ? null
    : { provider, name };
}

/**
 * With the policy's own provider: its address, key and patience stay; price and window were another model's and go.
 */
function chooseModel(given: OptionValue, own: ModelPolicy | null): ModelPolicy {
  const chosen = parseModelName(given.text);
  if (chosen === null)
    throw new UsageError(
      `${given.origin}: ${JSON.stringify(given.text.slice(0, 100))} is no model; expected PROVIDER/NAME, with ${PROVIDERS.join(' | ')} or an AI SDK provider package such as @ai-sdk/azure`,
    );
  if (own?.provider === chosen.provider)
    return own.name === chosen.name ? own : { ...own, name: chosen.name, price: null, contextWindow: null };
  if (chosen.provider === 'openai-compatible')
    throw new UsageError(
      `${given.origin}: provider openai-compatible needs the address of its API; give \`model.base_url\` in the policy`,
    );
  return {
    ...chosen,
    apiKeyEnv: null,
    apiKeyFile: null,
    apiKeyFd: null,
    apiKeyCommand: null,
    baseUrl: null,
    price: null,
    headersEnv: {},
    api: 'responses',
    reasoningEffort: null,
    contextWindow: null,
    requestTimeoutMs: own?.requestTimeoutMs ?? 300_000,
    retries: own?.retries ?? 4,
  };
}
