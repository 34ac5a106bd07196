import * as z from 'zod';
import { count, duration, environmentName, oneOf, pattern, section, text } from './policy-file-fields.ts';

export const PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible', 'replay'] as const;

const PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*|[a-z0-9][a-z0-9._-]*-provider)$/;
const KEY_SOURCES = ['api_key_env', 'api_key_file', 'api_key_fd', 'api_key_command'] as const;
const PROVIDER_RULE = `${PROVIDERS.join(' | ')} | an AI SDK provider package such as @ai-sdk/azure`;

export function isProvider(name: string): boolean {
  return PROVIDERS.some((one) => one === name) || (name.length <= 200 && PACKAGE.test(name));
}

/** What is wrong with a `base_url`, as what is expected; null when it is fine. */
export function baseUrlFault(value: string): string | null {
  if (!URL.canParse(value)) return 'expected an http:// or https:// address';
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'expected an http:// or https:// address';
  if (url.username !== '' || url.password !== '') return 'expected an address without a password; use headers_env';
  return null;
}

const perMillion = (what: string) => {
  const error = 'expected USD per million tokens, from 0 to 1000000';
  return z
    .number({ error })
    .min(0, { error })
    .max(1e6, { error })
    .optional()
    .describe(`USD per million ${what} tokens.`);
};

export const modelSection = section({
  provider: text(PROVIDER_RULE, 200)
    .refine(isProvider, { error: `expected ${PROVIDER_RULE}` })
    .describe(`Who answers: ${PROVIDER_RULE}.`),
  name: text('the name of a model', 200).describe("The model, by the provider's own name for it."),
  api_key_env: environmentName
    .optional()
    .describe(
      "Environment variable that holds the key. Absent: the provider's usual one; openai-compatible needs none.",
    ),
  api_key_file: text('a path').optional().describe('File that holds the key and nothing else.'),
  api_key_fd: count(3, 1023).optional().describe('Open file descriptor from which the key is read, once.'),
  api_key_command: text('a command').optional().describe('Program (words, no shell) that prints a short-lived key.'),
  base_url: text('an address')
    .superRefine((value, context) => {
      const fault = baseUrlFault(value);
      if (fault !== null) context.addIssue({ code: 'custom', message: fault });
    })
    .optional()
    .describe("Address of the API. Absent: the provider's own; openai-compatible needs one."),
  price: section({ input: perMillion('input'), cached_input: perMillion('cached input'), output: perMillion('output') })
    .superRefine((price, context) => {
      for (const key of ['input', 'output'] as const)
        if (price[key] === undefined && Object.keys(price).length > 0)
          context.addIssue({ code: 'custom', path: [key], message: 'a price needs both `input` and `output`' });
    })
    .optional()
    .describe('What the model costs. Absent or empty: from the built-in table.'),
  headers_env: z
    .record(pattern('the name of a header', /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/), environmentName, {
      error: 'expected a map of header names to names of environment variables',
    })
    .optional()
    .describe('Header → environment variable with its value. Absent or empty: no extra headers.'),
  api: oneOf(['responses', 'chat']).optional().describe('Which API of provider openai. Absent: responses.'),
  reasoning_effort: pattern('a word such as low, medium or high', /^[A-Za-z][A-Za-z0-9_-]{0,31}$/)
    .optional()
    .describe(
      "How hard the model thinks. Absent: the model's default. A usage error with provider packages but those of Azure, Bedrock and Vertex.",
    ),
  context_window: count(1024, 100_000_000).optional().describe('Tokens. Absent: from the built-in table.'),
  request_timeout: duration(100, 86_400_000)
    .optional()
    .describe('Longest silence between two pieces of an answer. Absent: 5m.'),
  retries: count(0, 20).optional().describe('How often a failed request is sent again. Absent: 4.'),
}).superRefine((model, context) => {
  const given = KEY_SOURCES.filter((key) => model[key] !== undefined);
  for (const key of given.slice(1))
    context.addIssue({
      code: 'custom',
      path: [key],
      message: `expected one source of the key; \`${given[0]}\` is one`,
    });
  if (model.api !== undefined && model.provider !== 'openai')
    context.addIssue({ code: 'custom', path: ['api'], message: 'expected only with `provider: openai`' });
  if (model.provider === 'openai-compatible' && model.base_url === undefined)
    context.addIssue({
      code: 'custom',
      path: ['base_url'],
      message: '`provider: openai-compatible` needs the address of its API',
    });
});
