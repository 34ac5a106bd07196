import { relative, sep } from 'node:path';
import type { InstructionFile } from '../context/index.ts';
import type { RunContext } from './run-context.ts';

const NAME = 'AGENTS.md';
/** Longer instruction files are cut: they are sent with every request. */
const MOST_BYTES = 32_768;

/**
 * AGENTS.md files from the root to the folder of the workspace, nearest last, read from the trusted commit:
 * `--trust-ref`, else HEAD. Outside git, and before the first commit, from the start snapshot.
 */
export async function loadInstructions({ workspace, request }: RunContext): Promise<InstructionFile[]> {
  const treeish = request.trustRef ?? workspace.base.commit ?? workspace.base.tree;
  const below = relative(workspace.root, workspace.dir)
    .split(sep)
    .filter((part) => part !== '');
  const folders = below.map((_, i) => below.slice(0, i + 1).join('/'));
  const files: InstructionFile[] = [];
  for (const path of [NAME, ...folders.map((folder) => `${folder}/${NAME}`)]) {
    const bytes = await workspace.read(treeish, path);
    if (bytes === null) continue;
    const cut = bytes.length > MOST_BYTES ? `\n[… ${bytes.length - MOST_BYTES} bytes left out here]` : '';
    files.push({ path, text: bytes.subarray(0, MOST_BYTES).toString('utf8') + cut });
  }
  return files;
}
