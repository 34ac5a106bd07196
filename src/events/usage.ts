import * as z from 'zod';

const Count = z.int().min(0);

/** Tokens of one or more model answers; `requests` counts every request sent, retries included. */
export const Usage = z.strictObject({
  input_tokens: Count,
  cached_input_tokens: Count,
  output_tokens: Count,
  reasoning_tokens: Count,
  requests: Count,
  retries: Count,
});
export type Usage = z.infer<typeof Usage>;

export const NO_USAGE: Usage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  requests: 0,
  retries: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    requests: a.requests + b.requests,
    retries: a.retries + b.retries,
  };
}
