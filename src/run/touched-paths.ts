import type { EventBody } from '../events/index.ts';

/** What an agent's turn may have changed in the workspace, as its events tell. */
export interface TouchedPaths {
  see(body: EventBody): void;
  /** Paths relative to the root since the last call, whole and exact; null: anything may have changed. */
  take(): readonly string[] | null;
}

/**
 * An edit says which files it wrote, so that a big workspace need not be looked through for them; a command does not say. `settled`:
 * nothing but the agent's calls writes in the workspace (no services).
 */
export function watchTouchedPaths({ settled }: { settled: boolean }): TouchedPaths {
  let known: Set<string> | null = null;
  return {
    see(body) {
      if (body.type !== 'item.started' && body.type !== 'item.completed') return;
      const { item } = body;
      if (item.type === 'command_execution' || item.type === 'mcp_tool_call') known = null;
      if (item.type !== 'file_change' || body.type !== 'item.completed') return;
      if (item.status === 'completed') for (const { path } of item.changes) known?.add(path);
      // Refused whole, it says; how far one that broke off came, nobody knows.
      else if (item.status !== 'failed' && item.status !== 'declined') known = null;
    },
    take() {
      const taken = known === null ? null : [...known];
      known = settled ? new Set() : null;
      return taken;
    },
  };
}
