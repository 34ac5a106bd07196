import type { Secret } from './model-keys.ts';

/** A provider's error message may quote the key that it refuses. */
export function hideSecrets(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce(
    (hidden, { name, value }) => (value.length < 4 ? hidden : hidden.replaceAll(value, `[${name}]`)),
    text,
  );
}
