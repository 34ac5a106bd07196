import { relative, sep } from 'node:path';
import type { InstructionFile } from '../context/index.ts';
import { type Location, readAtCommit, type Workspace } from '../workspace/index.ts';

const NAME = 'AGENTS.md';
/** Of all files together: they are sent with every request. */
const MOST_BYTES = 32_768;

/** An AGENTS.md of the trusted commit, and how much of it the agent sees. */
export interface LoadedInstructions extends InstructionFile {
  bytes: number;
  /** Less than `bytes` where it was cut; 0: left out. */
  usedBytes: number;
}

export interface InstructionPlace {
  location: Location;
  /** `--trust-ref`, resolved; null: HEAD. */
  trustRef: string | null;
  /** For a folder without commits: the start snapshot has the files. */
  openTree(): Promise<Pick<Workspace, 'base' | 'readFollowed'>>;
}

/**
 * AGENTS.md files from the root to the folder of the workspace, nearest last, read from the trusted commit. Outside git, and before the
 * first commit, from the start snapshot. What is too much is cut from the root's end: the nearest says most.
 */
export async function loadInstructions({
  location,
  trustRef,
  openTree,
}: InstructionPlace): Promise<LoadedInstructions[]> {
  const commit = trustRef ?? location.repository?.head?.commit ?? null;
  const below = relative(location.repository?.root ?? location.dir, location.dir)
    .split(sep)
    .filter((part) => part !== '');
  const folders = below.map((_, i) => below.slice(0, i + 1).join('/'));
  const paths = [NAME, ...folders.map((folder) => `${folder}/${NAME}`)];
  const tree = commit === null ? await openTree() : null;
  const read = (path: string) =>
    commit === null ? tree?.readFollowed(tree.base.tree, path) : readAtCommit(location, { commit, path });
  const contents = await Promise.all(paths.map(read));
  const files: LoadedInstructions[] = [];
  let left = MOST_BYTES;
  for (const [i, path] of [...paths.entries()].toReversed()) {
    const whole = contents[i] ?? null;
    if (whole === null) continue;
    const kept = cutAt(whole, left);
    left -= kept.length;
    const cut = kept.length < whole.length ? `\n[… ${whole.length - kept.length} bytes left out here]` : '';
    files.unshift({ path, text: kept.toString('utf8') + cut, bytes: whole.length, usedBytes: kept.length });
  }
  return files;
}

/** The first bytes, without half a character at the end. */
function cutAt(bytes: Buffer, most: number): Buffer {
  if (bytes.length <= most) return bytes;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}
