/**
 * Tokens that known models take in, by the start of the name; the longest start counts. The numbers are the `context_window` of
 * genai-prices 0.1.8 (which has none for Gemini Pro: the one of Gemini 2.5 Flash stands for the family). It is a table of its
 * own because the price data takes tens of milliseconds to load. `model.context_window` of the policy overrides.
 */
const WINDOWS: readonly (readonly [start: string, tokens: number])[] = [
  ['gpt-3.5', 16_385],
  ['gpt-4', 8192],
  ['gpt-4-turbo', 128_000],
  ['gpt-4o', 128_000],
  ['gpt-4.1', 1_000_000],
  ['gpt-5', 400_000],
  ['gpt-5-chat', 128_000],
  ['gpt-5.3', 128_000],
  ['gpt-5.3-codex', 400_000],
  ['gpt-5.4', 1_050_000],
  ['gpt-5.4-mini', 400_000],
  ['gpt-5.4-nano', 400_000],
  ['gpt-5.5', 1_000_000],
  ['gpt-5.6', 1_050_000],
  ['gpt-6', 1_050_000],
  ['gpt-oss', 131_072],
  ['o1', 200_000],
  ['o3', 200_000],
  ['o4-mini', 200_000],
  ['codex-mini', 200_000],
  ['claude-', 200_000],
  ['claude-fable-5', 1_000_000],
  ['claude-opus-4-6', 1_000_000],
  ['claude-opus-4-7', 1_000_000],
  ['claude-opus-4-8', 1_000_000],
  ['claude-opus-5', 1_000_000],
  ['claude-sonnet-4-6', 1_000_000],
  ['claude-sonnet-5', 1_000_000],
  ['gemini-', 1_048_576],
  ['gemini-1.0', 32_768],
  ['deepseek-', 64_000],
  ['deepseek-v3', 128_000],
  ['deepseek-v4', 1_000_000],
  ['codestral', 256_000],
  ['devstral-2512', 262_144],
  ['mistral-large-2512', 262_144],
  ['grok-3', 131_072],
  ['grok-4', 256_000],
  ['grok-4.3', 1_000_000],
  ['grok-4.5', 500_000],
  ['grok-code-fast', 256_000],
  ['kimi-k2', 131_072],
];

/** What a model of unknown window is taken to hold: few take less today, and where one does its provider says so. */
export const ASSUMED_WINDOW_TOKENS = 128_000;

/** null when unknown. A gateway's prefix (`openai/gpt-5`) and Bedrock's (`eu.anthropic.claude-…`) are looked through. */
export function contextWindowOf(name: string): number | null {
  const bare = name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:[a-z-]+\.)+/, '');
  const known = WINDOWS.filter(([start]) => bare.startsWith(start)).sort(([a], [b]) => b.length - a.length);
  return known[0]?.[1] ?? null;
}
