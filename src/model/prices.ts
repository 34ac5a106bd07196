import type { Usage } from '../events/index.ts';
import type { ModelPolicy } from '../policy/index.ts';
import { isLoopback } from './proxy.ts';

/** USD of a usage, or null when the price is unknown. */
export type CostOf = (usage: Usage) => number | null;

/** Provider packages whose id in the price data is not the end of their name. */
const PRICE_IDS: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws',
  xai: 'x-ai',
  'google-vertex': 'google',
  vertex: 'google',
};

/**
 * How a model is paid for: the policy's price, else genai-prices' bundled table (offline). A price by name alone is never
 * guessed: an `openai-compatible` server is known by its address, so that a local model called gpt-4o costs nothing known.
 * Tokens written to a cache count as ordinary input. The table takes some 70 ms to load: call it off the critical path.
 */
export async function loadPrices(model: Pick<ModelPolicy, 'provider' | 'name' | 'price' | 'baseUrl'>): Promise<CostOf> {
  const { price } = model;
  if (price !== null) {
    return (usage) => {
      const fresh = usage.input_tokens - usage.cached_input_tokens;
      const cached = usage.cached_input_tokens * (price.cachedInput ?? price.input);
      return (fresh * price.input + cached + usage.output_tokens * price.output) / 1e6;
    };
  }
  const where = placeOf(model);
  if (where === null) return () => null;
  const { calcPrice } = await import('@pydantic/genai-prices');
  return (usage) => {
    const tokens = {
      input_tokens: usage.input_tokens,
      cache_read_tokens: usage.cached_input_tokens,
      output_tokens: usage.output_tokens,
    };
    return calcPrice(tokens, model.name, where)?.total_price ?? null;
  };
}

function placeOf({
  provider,
  baseUrl,
}: Pick<ModelPolicy, 'provider' | 'baseUrl'>): { providerId: string } | { providerApiUrl: string } | null {
  if (provider === 'replay') return null;
  if (provider === 'openai-compatible') {
    // The table is not even loaded for a server on this machine.
    const isPublic = baseUrl !== null && URL.canParse(baseUrl) && !isLoopback(new URL(baseUrl).hostname);
    return isPublic ? { providerApiUrl: baseUrl } : null;
  }
  const last = provider.slice(provider.lastIndexOf('/') + 1);
  return { providerId: PRICE_IDS[last] ?? last };
}
