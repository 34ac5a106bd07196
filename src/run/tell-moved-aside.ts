import { nameSome } from '../events/index.ts';
import type { MovedAside } from '../workspace/index.ts';
import type { RunContext } from './run-context.ts';

/** Says what was taken out of the workspace, and is kept, and where it is now. */
export async function tellMovedAside({ emit, workspace }: Pick<RunContext, 'emit' | 'workspace'>): Promise<void> {
  for (const message of describeMoved(workspace.takeMoved()))
    await emit({ type: 'error', code: 'moved_aside', message });
}

/** A sentence for each repository, and one for all that is ignored. */
export function describeMoved(moved: readonly MovedAside[]): string[] {
  const told = moved
    .filter(({ kind }) => kind === 'repository')
    .map(({ path, to }) => `${path}: a repository that ${FROM_EARLIER}, is moved to ${to}`);
  const ignored = moved.filter(({ kind }) => kind === 'ignored');
  const [first] = ignored;
  if (first === undefined) return told;
  const names = nameSome(
    ignored.map(({ path }) => path),
    MOST_NAMED,
  );
  const folder = first.to.slice(0, -first.path.length - 1);
  return [...told, `${names}: ignored files that ${FROM_EARLIER}, are moved to ${folder}`];
}

const FROM_EARLIER = 'the thread did not find at its start, and that an earlier run may have left';
const MOST_NAMED = 5;
