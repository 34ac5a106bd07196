import { UsageError } from '../errors.ts';

/**
 * Splits a command into words as a POSIX shell would, and does nothing else of a shell: quotes and backslashes are honoured,
 * `$`, `|`, `;`, globs and the like are ordinary characters.
 */
export function splitShellWords(command: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let i = 0; i < command.length; i += 1) {
    const char = command.charAt(i);
    const next = command.charAt(i + 1);
    if (quote !== null) {
      if (char === quote) quote = null;
      else if (char === '\\' && quote === '"' && /["\\$`]/.test(next)) {
        word = `${word ?? ''}${next}`;
        i += 1;
      } else word = `${word ?? ''}${char}`;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === '\\' && next !== '') {
      word = `${word ?? ''}${next}`;
      i += 1;
    } else word = `${word ?? ''}${char}`;
  }
  if (quote !== null) throw new UsageError(`a quote is not closed in: ${command}`, { code: 'key' });
  if (word !== null) words.push(word);
  return words;
}
