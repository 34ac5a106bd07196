// Renders the inputs of action.yml and the option tables of the documents from the one table of options.
//   npx tsx scripts/option-reference.ts     rewrites the parts between the markers
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { ACTION_INPUTS, inputVariable } from '../src/cli/github/action-inputs.ts';
import { type OptionTable, RUN_OPTIONS } from '../src/cli/options.ts';

interface Part {
  file: string;
  /** The part is between a line with this and a line with `end` of it. */
  marker: string;
  render(): string;
}

const PARTS: readonly Part[] = [
  { file: 'action.yml', marker: 'inputs', render: renderInputs },
  { file: 'action.yml', marker: 'variables', render: renderVariables },
  { file: 'README.md', marker: 'options', render: renderOptionTable },
  { file: 'docs/github-actions.md', marker: 'inputs', render: renderInputTable },
];

/** Each part as it is and as the table wants it. */
export async function compareOptionDocuments(): Promise<
  { file: string; marker: string; actual: string; expected: string }[]
> {
  return Promise.all(
    PARTS.map(async ({ file, marker, render }) => {
      const { before, part } = split(await read(file), file, marker);
      return { file, marker, actual: part, expected: indent(render(), before) };
    }),
  );
}

function renderInputs(): string {
  const inputs = Object.entries(ACTION_INPUTS).map(([name, input]) => [
    name,
    { description: input.describe, required: false, default: input.default },
  ]);
  return stringify(Object.fromEntries(inputs), {
    lineWidth: 0,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  });
}

/** Inputs reach the script by its environment alone: an expression in a script would be code. */
function renderVariables(): string {
  const lines = Object.keys(ACTION_INPUTS).map((name) => `${inputVariable(name)}: \${{ inputs.${name} }}\n`);
  return lines.join('');
}

function renderInputTable(): string {
  const rows = Object.entries(ACTION_INPUTS).map(([name, input]) =>
    row([`\`${name}\``, input.default === '' ? '' : `\`${input.default}\``, input.describe]),
  );
  return `| input | default | |\n|---|---|---|\n${rows.join('')}`;
}

function renderOptionTable(): string {
  const table: OptionTable = RUN_OPTIONS;
  const rows = Object.entries(table).map(([name, { value, describe, choices }]) =>
    row([`\`--${name}${value === undefined ? '' : ` ${choices?.join('|') ?? value}`}\``, describe]),
  );
  return `| option | |\n|---|---|\n${rows.join('')}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

function split(text: string, file: string, marker: string) {
  const [start, end] = [new RegExp(`^.*<${marker}> .*\\n`, 'm'), new RegExp(`^.*</${marker}>.*\\n`, 'm')].map((line) =>
    line.exec(text),
  );
  if (!start || !end) throw new Error(`${file} has no lines <${marker}> and </${marker}>`);
  const from = start.index + start[0].length;
  return { before: text.slice(0, from), part: text.slice(from, end.index), after: text.slice(end.index) };
}

/** The part is as deep as its marker. */
function indent(text: string, before: string): string {
  const blanks = /( *)\S.*\n$/.exec(before)?.[1] ?? '';
  return text.replace(/^(?=.)/gm, blanks);
}

function read(file: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8');
}

async function main() {
  for (const { file, marker, render } of PARTS) {
    const { before, after } = split(await read(file), file, marker);
    await writeFile(fileURLToPath(new URL(`../${file}`, import.meta.url)), before + indent(render(), before) + after);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
