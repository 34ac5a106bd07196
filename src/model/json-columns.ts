import { isMap, isNode, isPair, isScalar, isSeq, parseDocument } from 'yaml';

/** JSON.parse does not say where; YAML's JSON schema finds the same faults but for a few (a trailing comma). */
export function brokenColumnOf(text: string): number {
  const [first] = parseDocument(text, { schema: 'json', strict: true }).errors;
  return (first?.pos[0] ?? 0) + 1;
}

/** Where the key or element at `path` begins; where it is not there, what holds it. */
export function columnOf(text: string, path: readonly PropertyKey[]): number {
  let node: unknown = parseDocument(text).contents;
  let offset = 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    } else break;
  }
  return offset + 1;
}
