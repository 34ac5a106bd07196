/**
 * Tokens of a text without a tokenizer: bytes / 4, corrected by what the provider reported for earlier requests.
 * No tokenizer package is worth its start-up cost here (100–1,300 ms, measured).
 */
export interface TokenEstimator {
  estimate(bytes: number): number;
  /** How many bytes are about so many tokens. */
  bytesOf(tokens: number): number;
  /** Learns from a request of `bytes` that the provider counted as `tokens`. */
  correct(bytes: number, tokens: number): void;
}

export function createTokenEstimator(): TokenEstimator {
  let tokensPerByte = 1 / 4;
  return {
    estimate: (bytes) => Math.ceil(bytes * tokensPerByte),
    bytesOf: (tokens) => Math.floor(tokens / tokensPerByte),
    correct(bytes, tokens) {
      if (bytes <= 0 || tokens <= 0) return;
      // A provider's own wrapping makes tiny requests look dense; bounds keep one odd report from ruling.
      tokensPerByte = Math.min(1, Math.max(1 / 8, tokens / bytes));
    },
  };
}
