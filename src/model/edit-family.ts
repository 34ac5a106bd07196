/** The edit format that a model was trained on. */
export type EditFamily = 'apply_patch' | 'replace_text';

/** OpenAI models from GPT-4.1 and o3 on, and open-weight and Codex ones, know the patch format; all others edit by replacing text. */
const PATCH_TRAINED = /(^|[/.])(gpt-(4\.1|4\.5|[5-9]|\d{2,}|oss)|o[3-9]($|[^a-z0-9])|codex)|codex/;

/** By the model's name alone where a gateway serves it (`openai/gpt-5`), so that the provider matters only to exclude. */
export function editFamilyOf(provider: string, name: string): EditFamily {
  if (provider === 'anthropic' || provider === 'google') return 'replace_text';
  return PATCH_TRAINED.test(name.toLowerCase()) ? 'apply_patch' : 'replace_text';
}
