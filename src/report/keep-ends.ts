/** The head and tail of a text that is longer than `maxCharacters`, and how many characters are gone. Never splits a surrogate pair. */
export function keepEnds(text: string, maxCharacters: number): { text: string; cutCharacters: number } {
  if (text.length <= maxCharacters) return { text, cutCharacters: 0 };
  const half = Math.max(1, Math.floor(maxCharacters / 2));
  const headEnd = isLowSurrogate(text, half) ? half - 1 : half;
  const tailStart = isLowSurrogate(text, text.length - half) ? text.length - half + 1 : text.length - half;
  return {
    text: detach(`${text.slice(0, headEnd)}\n⋯\n${text.slice(tailStart)}`),
    cutCharacters: tailStart - headEnd,
  };
}

/** A copy that does not keep the text alive that it was cut from: V8's slices do, and a log may hold gigabytes of such texts. */
export function detach(text: string): string {
  return Buffer.from(text).toString();
}

const isLowSurrogate = (text: string, at: number) => text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff;
