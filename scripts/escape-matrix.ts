// Renders the table of escapes in docs/sandbox.md from the attempts that the tests make.
//   npx tsx scripts/escape-matrix.ts     rewrites the part between the markers
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Attempt } from '../test/escapes/attempt.ts';
import { ATTEMPTS } from '../test/escapes/attempts.ts';
import { BAITS } from '../test/escapes/bait-attempts.ts';

const BEGIN = '<!-- Escapes: scripts/escape-matrix.ts, from test/escapes. -->';
const END = '<!-- End of escapes. -->';
const document = fileURLToPath(new URL('../docs/sandbox.md', import.meta.url));

/** One row an attempt, a table for each aim; the notes below give the reason of each deed that is not stopped. */
export function renderEscapeMatrix(): string {
  const notes: string[] = [];
  const noteOf = (why: string): string => {
    if (!notes.includes(why)) notes.push(why);
    return `[${notes.indexOf(why) + 1}]`;
  };
  const sections = Object.entries(ATTEMPTS).map(([aim, attempts]) => {
    const rows = attempts.map((attempt) => {
      const cells = [attempt.id, attempt.deed, unfenced(attempt, noteOf), 'held', underLandlock(attempt, noteOf)];
      return `| ${cells.join(' | ')} |`;
    });
    const head = '| id | deed | no fence | bubblewrap | landlock |';
    return [`**${aim}**`, '', head, '|---|---|---|---|---|', ...rows, ''].join('\n');
  });
  const baits = [
    '**bait for git outside** (whatever the fence: belay keeps its own git from running it)',
    '',
    '| id | deed | a plain git | belay |',
    '|---|---|---|---|',
    ...BAITS.map(({ id, deed }) => `| ${id} | ${deed} | works | held |`),
    '',
  ].join('\n');
  return [...sections, baits, ...notes.map((why, index) => `[${index + 1}] ${why}.`), ''].join('\n');
}

function unfenced({ control }: Attempt, noteOf: (why: string) => string): string {
  if (control === 'anyone') return 'works';
  if (control === 'plain') return 'works in a plain shell';
  if (control === 'root') return 'works for root';
  return 'none' in control ? `not shown ${noteOf(control.none)}` : 'works for root, where the machine has it';
}

function underLandlock({ open }: Attempt, noteOf: (why: string) => string): string {
  if (open === undefined) return 'held';
  const { for: whom, why } = open.landlock;
  return `${whom === 'everyone' ? 'works' : 'works where belay is not root'} ${noteOf(why)}`;
}

/** `docs/sandbox.md` as it is and as it should be. */
export async function compareSandboxDocument(): Promise<{ actual: string; expected: string }> {
  const actual = await readFile(document, 'utf8');
  const [before = '', rest = ''] = actual.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  return { actual, expected: `${before}${BEGIN}\n\n${renderEscapeMatrix()}\n${END}${after}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await writeFile(document, (await compareSandboxDocument()).expected);
