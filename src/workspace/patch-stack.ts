import { createGit, gitFailure } from './git.ts';

/** A laid-out tree that patches are put on, one over the other. */
export interface PatchStack {
  /** Whether the patch applies; where it does not, the tree stays as it was. */
  push(patch: Buffer): Promise<boolean>;
  /** Takes the last patch off. */
  pop(): Promise<void>;
  /** All of them as one patch on the base. */
  diff(): Promise<Buffer>;
}

/** `dir`: a repository of ours on the base (see `layCommit`); nobody else works in it. */
export async function createPatchStack(program: string, dir: string): Promise<PatchStack> {
  const git = createGit(program, dir, {
    GIT_DIR: `${dir}/.git`,
    GIT_WORK_TREE: dir,
    GIT_INDEX_FILE: `${dir}/.git/index`,
  });
  const writeTree = async () => (await git.run(['write-tree'])).toString('latin1').trim();
  const base = await writeTree();
  const trees = [base];
  const top = () => trees.at(-1) ?? base;
  const reset = () => git.run(['read-tree', '-u', '--reset', top()]);
  return {
    async push(patch) {
      const args = ['apply', '--index', '--3way', '--whitespace=nowarn', '-'];
      const applied = await git.call(args, { stdin: patch });
      if (applied.code === 0) {
        trees.push(await writeTree());
        return true;
      }
      // 1: it does not apply (or only with conflicts); anything else is no answer.
      if (applied.code !== 1 && applied.code !== 128) throw gitFailure(args, applied);
      await reset();
      return false;
    },
    async pop() {
      if (trees.length > 1) trees.pop();
      await reset();
    },
    diff: () => git.run(['diff-tree', '-p', '--binary', '--full-index', '--no-renames', base, top()]),
  };
}
