import type { Result } from '../../events/index.ts';

/** What the summary says where no report could be made. Its text is quoted as code: it may be anybody's. */
export function renderPlainSummary(result: Result): string {
  return `## belay: ${result.outcome}\n\n${quote(result.reason)}\n`;
}

/** A code block that its text cannot end. */
function quote(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
