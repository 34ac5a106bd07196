/** A fence that the text inside cannot close: longer than any run of backticks in it. */
function fence(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((n, run) => Math.max(n, run.length), 2);
  return '`'.repeat(longest + 1);
}

/** A text that is data, under its title. */
export function quoted(title: string, text: string): string {
  const bar = fence(text);
  return `${title}\n${bar}\n${text.replace(/\n$/, '')}\n${bar}`;
}
