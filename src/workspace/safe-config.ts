import type { Git } from './git.ts';
import { gitFailure, splitNul } from './git.ts';

/** Keys that describe the repository and neither run a program nor hold a credential; `*` stands for a subsection or a name. */
const PLAIN_KEYS = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks|precomposeunicode|autocrlf|eol|safecrlf|sparsecheckout|sparsecheckoutcone|untrackedcache|sharedrepository|quotepath|abbrev|longpaths)$/,
  /^extensions\./,
  /^remote\..+\.(?:url|pushurl|fetch|push|tagopt|prune|promisor|partialclonefilter|mirror)$/,
  /^branch\..+\.(?:remote|merge|rebase|description)$/,
  /^submodule\..+\.(?:url|active|branch)$/,
  /^user\.(?:name|email)$/,
  /^init\.defaultbranch$/,
  /^index\./,
  /^gc\./,
];
const URL_KEYS = /\.(?:url|pushurl)$/;

const PLAIN_SECTION = /^\[([a-z]+)(?: "([\w./-]+)")?\]$/;
const PLAIN_LINE = /^\s+([a-zA-Z][a-zA-Z0-9-]*) = ([\w./:+*, -]*)$/;

/** Whether a configuration file is written so plainly, and holds so little, that its text alone shows it: git need not be asked. */
export const isPlainConfig = (text: string): boolean => {
  let section = '';
  for (const line of text.split('\n')) {
    const [, name, subsection] = PLAIN_SECTION.exec(line) ?? [];
    const [, key] = PLAIN_LINE.exec(line) ?? [];
    if (name !== undefined) section = subsection === undefined ? name : `${name}.${subsection}`;
    else if (line !== '' && !(key !== undefined && isPlainKey(`${section}.${key.toLowerCase()}`))) return false;
  }
  return true;
};

const isPlainKey = (key: string): boolean => PLAIN_KEYS.some((plain) => plain.test(key));

interface Entry {
  key: string;
  /** null: a key without a value, which means true. */
  value: string | null;
}

/**
 * A git configuration file without what is not an agent's to read: credentials in URLs and headers, credential helpers, programs,
 * includes. Works by allowlist; null when there is nothing to leave out.
 */
export const renderSafeConfig = async (git: Git, file: string): Promise<string | null> => {
  const args = ['config', '--file', file, '--no-includes', '--list', '-z'];
  const listed = await git.call(args);
  // A file that git cannot read shows the agent nothing.
  if (listed.code !== 0 && listed.code !== 128) throw gitFailure(args, listed);
  if (listed.code === 128) return '';
  const entries = splitNul(listed.stdout).map(parseEntry);
  const kept = entries.filter(({ key }) => isPlainKey(key)).map(withoutSecret);
  const same = kept.length === entries.length && kept.every(({ value }, index) => value === entries[index]?.value);
  return same ? null : kept.map(renderEntry).join('');
};

const parseEntry = (line: Buffer): Entry => {
  const text = line.toString('utf8');
  const end = text.indexOf('\n');
  return end < 0 ? { key: text, value: null } : { key: text.slice(0, end), value: text.slice(end + 1) };
};

/** User, password, query and fragment of a URL can all be a token. */
const withoutSecret = ({ key, value }: Entry): Entry =>
  value !== null && URL_KEYS.test(key)
    ? { key, value: value.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1').replace(/[?#].*$/s, '') }
    : { key, value };

const renderEntry = ({ key, value }: Entry): string => {
  const section = key.slice(0, key.indexOf('.'));
  const name = key.slice(key.lastIndexOf('.') + 1);
  const subsection = key.slice(section.length + 1, Math.max(section.length + 1, key.length - name.length - 1));
  const quote = (text: string): string => text.replace(/[\\"]/g, '\\$&');
  const head = subsection === '' ? `[${section}]` : `[${section} "${quote(subsection)}"]`;
  const body = value === null ? name : `${name} = "${quote(value).replaceAll('\n', '\\n')}"`;
  return `${head}\n\t${body}\n`;
};
