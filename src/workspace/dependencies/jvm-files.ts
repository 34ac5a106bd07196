import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';

/** What could hide an element from a reader of plain text: such a file is one change as a whole. */
const CONCEALING = /<!DOCTYPE|<!\[CDATA\[|<\?(?!xml\s)|<[\w.-]+:|xmlns:/i;
const COORDINATES = ['dependency', 'plugin', 'parent', 'extension'];
const SOURCES = ['repository', 'pluginRepository'];

/** Coordinates with what belongs to them, properties (which stand for versions) and repositories, wherever in the file they are. */
export const parsePom: DependencyParser = (text) => {
  const plain = text.replace(/<!--[\s\S]*?-->/g, '');
  if (CONCEALING.test(plain)) throw new SyntaxError('not plain elements');
  const found = new Map<string, PinnedVersion[]>();
  for (const tag of COORDINATES) {
    for (const block of blocksOf(plain, tag)) {
      const name = `${fieldOf(block, 'groupId') ?? ''}:${fieldOf(block, 'artifactId') ?? ''}`;
      const whole = tag === 'plugin' ? '' : block.replace(/\s+/g, ' ');
      addVersion(found, name, { version: fieldOf(block, 'version') ?? 'managed', source: whole });
    }
  }
  for (const tag of SOURCES)
    for (const block of blocksOf(plain, tag)) addVersion(found, tag, { version: fieldOf(block, 'url') ?? '' });
  for (const block of blocksOf(plain, 'properties'))
    for (const [, name = '', value = ''] of block.matchAll(/<([\w.-]+)\s*>([^<]*)<\/\1\s*>/g))
      addVersion(found, `property ${name}`, { version: value.trim() });
  return found;
};

const blocksOf = (text: string, tag: string): string[] =>
  [...text.matchAll(new RegExp(`<${tag}(?:\\s[^>]*)?>([\\s\\S]*?)</${tag}\\s*>`, 'g'))].map(
    ([, inside = '']) => inside,
  );

const fieldOf = (block: string, tag: string): string | null =>
  new RegExp(`<${tag}\\s*>([^<]*)</${tag}\\s*>`).exec(block)?.[1]?.trim() ?? null;

/** `group:artifact:version=configuration,…` */
export const parseGradleLockfile: DependencyParser = (text) => {
  const found = new Map<string, PinnedVersion[]>();
  for (const line of text.split(/\r?\n/)) {
    const entry = /^([^#:=\s]+:[^:=\s]+):([^=\s]+)=/.exec(line);
    if (entry !== null) addVersion(found, entry[1] ?? '', { version: entry[2] ?? '' });
  }
  return found;
};
