import { createHash } from 'node:crypto';
import { addVersion, type DependencyParser, type PinnedVersion } from './pinned-version.ts';
import { parseRequirement } from './requirement.ts';

type Add = (name: string, pinned: PinnedVersion) => void;

/**
 * A parser that looks at one line at a time; `see` is made anew for each text. Lines are hostile: a pattern must take linear time on any,
 * and `.` does not match all that may stand in a comment.
 */
const byLine =
  (create: (add: Add) => (line: string) => void, ends = /\r?\n/): DependencyParser =>
  (text) => {
    const found = new Map<string, PinnedVersion[]>();
    const see = create((name, pinned) => addVersion(found, name, pinned));
    for (const line of text.replace(/^\uFEFF/, '').split(ends)) see(line);
    return found;
  };

/** Ends of lines that pip knows, which reads by Python's `splitlines`, and that would hide a line here. */
const OTHER_LINE_ENDS = ['\v', '\f', '\x1c', '\x1d', '\x1e', '\x85', '\u2028', '\u2029'];

const parseRequirementLines = byLine((add) => (line) => {
  const text = line
    .replace(/(^|\s)#.*$/s, '')
    .replace(/\\$/, '')
    .trim();
  if (text === '') return;
  const requirement = text.startsWith('-') ? null : parseRequirement(text);
  if (requirement === null) add(text.split(/[\s=]/)[0] ?? text, { version: text });
  else add(...requirement);
});

/** Options such as `-r other.txt` and `--index-url` decide what is installed: each is an entry of its own. */
export const parseRequirements: DependencyParser = (text) => {
  if (OTHER_LINE_ENDS.some((end) => text.includes(end)) || /\r(?!\n)/.test(text)) throw new SyntaxError('other lines');
  // pip decodes a file as its first lines say.
  const coding = /^#.*?coding[:=]\s*([-\w.]+)/m.exec(text.split('\n', 2).join('\n'))?.[1];
  if (coding !== undefined && !/^(utf-?8|ascii)$/i.test(coding)) throw new SyntaxError(`in ${coding}`);
  return parseRequirementLines(text);
};

/** Classic (`version "1"`, `resolved "…"`) and berry (`version: 1`, `checksum: …`). */
export const parseYarnLock = byLine((add) => {
  let name = '';
  let pinned: PinnedVersion | null = null;
  return (line) => {
    const header = /^"?((?:@[^/@\s"]+\/)?[^@\s",]+)@.*:$/.exec(line);
    if (header !== null) {
      name = header[1] ?? '';
      pinned = null;
      return;
    }
    const field = /^ {2}(version|resolved|integrity|resolution|checksum):? "?([^"]*)"?$/.exec(line);
    if (field === null || name === '') return;
    if (field[1] === 'version') {
      pinned = { version: field[2] ?? '', source: '' };
      add(name, pinned);
    } else if (pinned !== null) pinned.source = `${pinned.source ?? ''} ${field[2] ?? ''}`;
  };
});

/** Keys of `packages:`: `/name@1`, `name@1(peer)`, `/name/1`. */
export const parsePnpmLock = byLine((add) => {
  let section = '';
  let pinned: PinnedVersion | null = null;
  return (line) => {
    const top = /^(\w+):/.exec(line);
    if (top !== null) section = top[1] ?? '';
    if (section !== 'packages') return;
    const key = /^ {2}['"]?\/?((?:@[^/@\s'"]+\/)?[^/@\s'"]+)[@/]([^:('"\s]+)/.exec(line);
    if (key !== null && line.trimEnd().endsWith(':')) {
      pinned = { version: key[2] ?? '', source: '' };
      add(key[1] ?? '', pinned);
    } else if (pinned !== null && line.trim().startsWith('resolution:')) pinned.source = line.trim();
  };
});

/** `require`, `replace` and `exclude`, alone or in a block; `go` and `toolchain`, which fetch a compiler. */
export const parseGoMod = byLine((add) => {
  let block = '';
  return (line) => {
    const text = line.replace(/\/\/.*$/s, '').trim();
    if (text === ')') block = '';
    const open = /^(\w+)\s*\($/.exec(text);
    if (open !== null) block = open[1] ?? '';
    const [, verb = '', rest = ''] = block === '' ? (/^(\w+)\s+(.*)$/.exec(text) ?? []) : ['', block, text];
    if (open === null && (verb === 'go' || verb === 'toolchain')) add(verb, { version: rest.trim() });
    if (open !== null || !['require', 'replace', 'exclude'].includes(verb)) return;
    const [name = '', ...version] = rest.split(/\s+/);
    if (name !== '' && version.length > 0)
      add(name, { version: verb === 'require' ? version.join(' ') : `${verb} ${version.join(' ')}` });
  };
});

export const parseGoSum = byLine((add) => (line) => {
  const [name = '', version = '', digest = ''] = line.trim().split(/\s+/);
  if (digest !== '' && !version.endsWith('/go.mod')) add(name, { version, source: digest });
});

/** A comment at the end of a line of Ruby, where it is plain that it is one. */
const withoutRubyComment = (text: string): string =>
  /\\|#\{/.test(text) ? text : (/^((?:[^#"']|"[^"]*"|'[^']*')*)#/.exec(text)?.[1] ?? text);

/** A Gemfile is a program: what is not a plain `gem` or `source` is told by the digest of all such lines. */
export const parseGemfile: DependencyParser = (text) => {
  const others: string[] = [];
  const found = byLine((add) => (line) => {
    if (/^\s*(#|$)/.test(line)) return;
    const gem = /^\s*gem\s+["']([^"']+)["']\s*,?\s*(.*)$/s.exec(line);
    const source = /^\s*(source|git_source)\b(.*)$/s.exec(line);
    if (gem !== null) add(gem[1] ?? '', { version: withoutRubyComment(gem[2] ?? '').trim() || 'any' });
    else if (source !== null) add(source[1] ?? '', { version: (source[2] ?? '').trim() });
    else others.push(line.trim());
  })(text);
  if (others.length > 0) {
    const digest = createHash('sha256').update(others.join('\n')).digest('hex');
    addVersion(found, '(other lines)', { version: `sha256:${digest}` });
  }
  return found;
};

/** `    name (1.2.3)` below `specs:`; deeper lines are what those need. */
export const parseGemfileLock = byLine((add) => (line) => {
  const spec = /^ {4}(\S+) \(([^)]+)\)$/.exec(line);
  if (spec !== null) add(spec[1] ?? '', { version: spec[2] ?? '' });
  const remote = /^ {2}remote: (.*)$/.exec(line);
  if (remote !== null) add('remote', { version: remote[1] ?? '' });
});
