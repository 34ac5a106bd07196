/** Most alternatives that `{a,b}` groups of one glob may stand for. */
export const MAX_ALTERNATIVES = 256;

/**
 * The globs that `a{b,c}d` stands for, nested groups included; null when there are more than `MAX_ALTERNATIVES`.
 * A brace without its partner or without a comma stands for itself, as in a shell.
 */
export function expandBraces(glob: string): readonly string[] | null {
  const done: string[] = [];
  const open = [glob];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = firstGroup(next);
    if (group === null) done.push(next);
    else for (const part of group.parts.toReversed()) open.push(`${group.before}${part}${group.after}`);
    if (done.length + open.length > MAX_ALTERNATIVES) return null;
  }
  return done;
}

function firstGroup(glob: string): { before: string; parts: readonly string[]; after: string } | null {
  for (let start = nextBrace(glob, 0); start >= 0; start = nextBrace(glob, start + 1)) {
    const commas: number[] = [];
    let depth = 0;
    for (let at = start; at < glob.length; at++) {
      const character = glob[at];
      if (character === '\\') at++;
      else if (character === '{') depth++;
      else if (character === ',' && depth === 1) commas.push(at);
      else if (character === '}' && --depth === 0) {
        if (commas.length === 0) break;
        const edges = [start, ...commas, at];
        const parts = edges.slice(1).map((edge, index) => glob.slice((edges[index] ?? 0) + 1, edge));
        return { before: glob.slice(0, start), parts, after: glob.slice(at + 1) };
      }
    }
  }
  return null;
}

function nextBrace(glob: string, from: number): number {
  for (let at = from; at < glob.length; at++) {
    if (glob[at] === '\\') at++;
    else if (glob[at] === '{') return at;
  }
  return -1;
}
