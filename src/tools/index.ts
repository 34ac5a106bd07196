/** tools/: what the model may do. */
export { applyPatch } from './apply-patch.ts';
export type {
  Finish,
  OutputSink,
  Tool,
  ToolAction,
  ToolCallContext,
  ToolDetail,
  ToolOutcome,
  ToolPorts,
} from './tool.ts';
