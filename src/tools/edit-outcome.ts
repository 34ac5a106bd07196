import type { FileChange } from '../events/index.ts';
import { shownPath } from './safe-path.ts';
import type { ToolOutcome, ToolPorts } from './tool.ts';

const LETTERS = { add: 'A', update: 'M', delete: 'D' } as const;

/** An edit that was made. `remark` tells the model what it would not expect. */
export function editMade(
  ports: Pick<ToolPorts, 'root' | 'workspace'>,
  changes: readonly FileChange[],
  remark: string | null,
): ToolOutcome {
  const lines = changes.map((change) => `${LETTERS[change.kind]} ${shownPath(ports, change.path)}`);
  const text = lines.length === 0 ? 'Nothing changed: the files already are like that.' : `Done:\n${lines.join('\n')}`;
  return {
    status: 'completed',
    note: remark === null ? text : `${text}\n${remark}`,
    detail: { type: 'file_change', changes, error: null },
  };
}

/** An edit that was not made: nothing changed. `denied`: the policy says no. */
export function editRefused(asked: readonly FileChange[], reason: string, denied = false): ToolOutcome {
  return {
    status: denied ? 'declined' : 'failed',
    note: `Nothing was changed. ${reason}`,
    detail: { type: 'file_change', changes: asked, error: reason },
  };
}
