/** How a provider is spoken to. `other`: a provider package that belay knows nothing about. */
export type Wire = 'openai-responses' | 'openai-chat' | 'openai-compatible' | 'anthropic' | 'google' | 'other';

export interface WireSettings {
  wire: Wire;
  /** The model's name at the provider. */
  name: string;
  reasoningEffort: string | null;
  /** Tokens. */
  contextWindow: number;
  /** Nobody has said what the window is. */
  isWindowAssumed: boolean;
}
