import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';

/** What could hide an element from a reader of plain text, such as a prefix of its name: such a file is one change as a whole. */
const CONCEALING = /<!DOCTYPE|<!\[CDATA\[|<\?(?!xml\s)|<[^\s<>!?]+:/i;
/** The text is read as UTF-8: in another encoding it would say something else to Maven. */
const IS_UTF8 = /^\uFEFF?\s*<(?!\?xml[^>]*encoding\s*=\s*["'](?!(?:utf-8|us-ascii|iso-8859-1)["']))/i;
const COORDINATES = ['dependency', 'plugin', 'parent', 'extension', 'path'];
/** What a plugin has inside, whose fields are not its own. */
const INNER = ['dependencies', 'executions', 'configuration'];
const COORDINATE = /<(groupId|artifactId|version)(?:\s[^<>]*)?>([^<]*)</g;
const SOURCES = ['repository', 'pluginRepository'];

/** Coordinates with what belongs to them, properties (which stand for versions) and repositories, wherever in the file they are. */
export const parsePom: DependencyParser = (text) => {
  const plain = without(text, /<!--/g, /-->/g);
  if (!IS_UTF8.test(text) || CONCEALING.test(plain)) throw new SyntaxError('not plain elements');
  const found = new Map<string, PinnedVersion[]>();
  for (const tag of COORDINATES) {
    for (const block of blocksOf(plain, tag)) {
      const own = tag === 'plugin' ? INNER.reduce((left, inner) => without(left, ...tagsOf(inner)), block) : block;
      const name = `${fieldOf(own, 'groupId') ?? ''}:${fieldOf(own, 'artifactId') ?? ''}`;
      // How a plugin is configured is no dependency; what could name one counts, however deep it is.
      const source = tag === 'plugin' ? [...block.matchAll(COORDINATE)].join() : block.replace(/\s+/g, ' ');
      addVersion(found, name, { version: fieldOf(own, 'version') ?? 'managed', source });
    }
  }
  for (const tag of SOURCES)
    for (const block of blocksOf(plain, tag))
      addVersion(found, tag, { version: fieldOf(block, 'url') ?? '', source: block });
  for (const block of blocksOf(plain, 'properties'))
    for (const [, name = '', value = ''] of block.matchAll(/<([^\s<>/]+)(?:\s[^<>]*)?>([^<]*)<\/\1\s*>/g))
      addVersion(found, `property ${name}`, { version: value.trim() });
  return found;
};

interface Block {
  /** Offsets of the whole and of what is inside. */
  from: number;
  inside: number;
  outside: number;
  to: number;
}

/** From each `open` to the next `close`. One that is not there is searched for once, whatever the text repeats. */
const scan = (text: string, open: RegExp, close: RegExp): Block[] => {
  const blocks: Block[] = [];
  open.lastIndex = 0;
  for (let opened = open.exec(text); opened !== null; opened = open.exec(text)) {
    close.lastIndex = open.lastIndex;
    const closed = close.exec(text);
    if (closed === null) break;
    blocks.push({ from: opened.index, inside: open.lastIndex, outside: closed.index, to: close.lastIndex });
    open.lastIndex = close.lastIndex;
  }
  return blocks;
};

const tagsOf = (tag: string): [open: RegExp, close: RegExp] => [
  new RegExp(`<${tag}(?:\\s[^<>]*)?>`, 'g'),
  new RegExp(`</${tag}\\s*>`, 'g'),
];

const without = (text: string, open: RegExp, close: RegExp): string => {
  const kept: string[] = [];
  let from = 0;
  for (const block of scan(text, open, close)) {
    kept.push(text.slice(from, block.from));
    from = block.to;
  }
  return kept.join('') + text.slice(from);
};

const blocksOf = (text: string, tag: string): string[] =>
  scan(text, ...tagsOf(tag)).map(({ inside, outside }) => text.slice(inside, outside));

const fieldOf = (block: string, tag: string): string | null =>
  new RegExp(`<${tag}(?:\\s[^<>]*)?>([^<]*)</${tag}\\s*>`).exec(block)?.[1]?.trim() ?? null;

/** `group:artifact:version=configuration,…` */
export const parseGradleLockfile: DependencyParser = (text) => {
  const found = new Map<string, PinnedVersion[]>();
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const entry = /^([^#:=\s]+:[^:=\s]+):([^=\s]+)=/.exec(line);
    if (entry !== null) addVersion(found, entry[1] ?? '', { version: entry[2] ?? '' });
  }
  return found;
};
