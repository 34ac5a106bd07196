import type { LanguageModelV3 } from '@ai-sdk/provider';

/** What belay uses of `@ai-sdk/google` (see tsconfig.check.json). */
export function createGoogleGenerativeAI(options: {
  apiKey?: string;
  baseURL?: string;
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
}): (modelId: string) => LanguageModelV3;
