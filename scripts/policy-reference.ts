// Renders the key tables of docs/policy.md from the policy schema, so that there is one text for both.
//   npx tsx scripts/policy-reference.ts     rewrites the part of docs/policy.md below the marker
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { policySchema } from '../src/policy/index.ts';

export const MARKER = '<!-- Below: scripts/policy-reference.ts, from the schema. -->';
const document = fileURLToPath(new URL('../docs/policy.md', import.meta.url));

const Node = z.looseObject({
  type: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  description: z.string().optional(),
  required: z.array(z.string()).optional(),
  get anyOf() {
    return z.array(Node).optional();
  },
  get items() {
    return Node.optional();
  },
  get properties() {
    return z.record(z.string(), Node).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), Node]).optional();
  },
});
type Node = z.infer<typeof Node>;

/** One table for each top-level key. */
export function renderPolicyReference(): string {
  const root = Node.parse(policySchema());
  const sections = Object.entries(root.properties ?? {}).map(([name, node]) => {
    const rows = renderRows(name, node);
    return [`## \`${name}\``, '', '| key | type | meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return sections.join('\n');
}

function renderRows(path: string, node: Node, isRequired = false): string[] {
  const cells = [`\`${path}\``, `${renderType(node)}${isRequired ? ', required' : ''}`, node.description ?? ''];
  const row = `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [row, ...renderChildren(path, node)];
}

function renderChildren(path: string, node: Node): string[] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, child]) =>
    renderRows(`${path}.${key}`, child, node.required?.includes(key)),
  );
  const inList = node.items ? renderChildren(`${path}[]`, node.items) : [];
  const values = node.additionalProperties;
  const inMap = typeof values === 'object' ? renderChildren(`${path}.NAME`, values) : [];
  return [...own, ...inList, ...inMap, ...(node.anyOf ?? []).flatMap((one) => renderChildren(path, one))];
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['integer', 'whole number'],
  ['number', 'number'],
  ['boolean', 'true or false'],
  ['object', 'map'],
]);

function renderType(node: Node): string {
  if (node.anyOf) return [...new Set(node.anyOf.map(renderType))].join(', or ');
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.enum) return node.enum.map((one) => `\`${String(one)}\``).join(' | ');
  if (node.type === 'array') return node.items ? `list of ${renderType(node.items)}` : 'list';
  return TYPES.get(node.type ?? '') ?? 'anything';
}

/** `docs/policy.md` as it is and as it should be. */
export async function comparePolicyDocument(): Promise<{ actual: string; expected: string }> {
  const actual = await readFile(document, 'utf8');
  const [prose = ''] = actual.split(MARKER);
  return { actual, expected: `${prose}${MARKER}\n\n${renderPolicyReference()}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await writeFile(document, (await comparePolicyDocument()).expected);
