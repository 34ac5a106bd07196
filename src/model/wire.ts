/**
 * How a provider is spoken to. `azure`: OpenAI Responses through a package of its own; `bedrock-claude`: Bedrock with a model that takes
 * cache points; `other`: a provider package that belay knows nothing about.
 */
export type Wire =
  | 'openai-responses'
  | 'openai-chat'
  | 'openai-compatible'
  | 'anthropic'
  | 'google'
  | 'azure'
  | 'bedrock'
  | 'bedrock-claude'
  | 'other';

/** The first Claude models, which Bedrock refuses cache points for. */
const UNCACHED_CLAUDE = /claude-(v|instant|3-(opus|sonnet|haiku)|3-5-sonnet-20240620)/;

/** The wire of a provider package: those of the large clouds speak one that belay knows. */
export function wireOfPackage(name: string, model: string): Wire {
  switch (name) {
    case '@ai-sdk/azure':
      return 'azure';
    case '@ai-sdk/google-vertex':
      return 'google';
    case '@ai-sdk/amazon-bedrock':
      return model.includes('claude') && !UNCACHED_CLAUDE.test(model) ? 'bedrock-claude' : 'bedrock';
    default:
      return 'other';
  }
}

export function isBedrock(wire: Wire): boolean {
  return wire === 'bedrock' || wire === 'bedrock-claude';
}

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
