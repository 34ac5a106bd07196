import { type Html, html } from './html.ts';

type LineKind = 'a' | 'd' | 'h' | 'm' | 'c';

/** A diff, unified or in the form of `apply_patch`, with its lines marked. Neighbours of one kind share a mark: pages stay small. */
export function htmlDiff(text: string): Html {
  const runs: { kind: LineKind; lines: string[] }[] = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const kind = kindOf(line);
    const last = runs.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else runs.push({ kind, lines: [line] });
  }
  const marked = runs.map(({ kind, lines }) =>
    kind === 'c' ? html`<span>${lines.join('\n')}</span>` : html`<span class="${kind}">${lines.join('\n')}</span>`,
  );
  return html`<pre class="diff" tabindex="0">${marked}</pre>`;
}

function kindOf(line: string): LineKind {
  if (
    /^(diff |index |--- |\+\+\+ |\*\*\* |new file|deleted file|old mode|new mode|similarity|rename |Binary |GIT binary)/.test(
      line,
    )
  )
    return 'm';
  if (line.startsWith('@@')) return 'h';
  if (line.startsWith('+')) return 'a';
  return line.startsWith('-') ? 'd' : 'c';
}

/** The files of a unified diff, each with its own text, by path of the new side. */
export function splitPatch(patch: string): { title: string; text: string }[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const [first = '', ...rest] = part.split('\n');
      const renamed = /^diff --git a\/(.*) b\/(.*)$/.exec(first);
      // Headers that only repeat the title tell nothing.
      const body = rest.filter((line, i) => !(i < 4 && /^(index |--- |\+\+\+ )/.test(line))).join('\n');
      return { title: renamed?.[2] ?? first.slice('diff --git '.length), text: body };
    });
}
