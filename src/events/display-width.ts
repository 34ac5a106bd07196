/** One character a column. */
const PLAIN = /^[\x20-\x7e]*$/;
/** East Asian wide characters and emoji: two columns in nearly every terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** The text when it fits into so many terminal columns, else its beginning and `…`. */
export function cutToWidth(text: string, columns: number): string {
  if (PLAIN.test(text) && text.length <= columns) return text;
  // Made when it is needed: the first one takes some 5 ms.
  const segmenter = new Intl.Segmenter();
  let used = 0;
  let fitting = '';
  for (const { segment } of segmenter.segment(text)) {
    used += WIDE.test(segment) ? 2 : 1;
    if (used > columns) return columns < 1 ? '' : `${fitting}…`;
    if (used < columns) fitting += segment;
  }
  return text;
}
