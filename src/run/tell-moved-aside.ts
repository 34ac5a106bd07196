import { nameSome } from '../events/index.ts';
import type { MovedAside } from '../workspace/index.ts';
import type { RunContext } from './run-context.ts';

/** Says what was taken out of the workspace, and is kept, and where it is now. */
export async function tellMovedAside({ emit, workspace }: Pick<RunContext, 'emit' | 'workspace'>): Promise<void> {
  for (const message of describeMoved(workspace.takeMoved()))
    await emit({ type: 'error', code: 'moved_aside', message });
}

/** A sentence for each repository, and one for all that is ignored in each folder that keeps some. */
export function describeMoved(moved: readonly MovedAside[]): string[] {
  const told = moved
    .filter(({ kind }) => kind === 'repository')
    .map(({ path, to }) => `${path}: a repository that ${FROM_EARLIER}, is moved to ${to}`);
  const ignored = new Map<string, string[]>();
  for (const { path, kind, to } of moved) {
    if (kind !== 'ignored') continue;
    const folder = to.slice(0, -path.length - 1);
    ignored.set(folder, [...(ignored.get(folder) ?? []), path]);
  }
  for (const [folder, paths] of ignored)
    told.push(`${nameSome(paths, MOST_NAMED)}: ignored files that ${FROM_EARLIER}, are moved to ${folder}`);
  return told;
}

const FROM_EARLIER = 'the thread did not find at its start, and that an earlier run may have left';
const MOST_NAMED = 5;
