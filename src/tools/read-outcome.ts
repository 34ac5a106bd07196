import type { ToolOutcome } from './tool.ts';

/** What a call that only reads came to: its summary for people, and its note as the error unless it completed. */
export function readOutcome(summary: string, status: ToolOutcome['status'], note: string): ToolOutcome {
  return { status, note, detail: { type: 'tool_call', summary, error: status === 'completed' ? null : note } };
}
