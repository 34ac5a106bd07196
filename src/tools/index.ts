/** tools/: what the model may do: names, inputs and words for the model, and the effect behind each. */
export { type ParsedCall, parseCall } from './parse-call.ts';
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
export { createTools, type EditFamily } from './tool-set.ts';
export { toolSpecs } from './tool-specs.ts';
export { parsePlan } from './update-plan.ts';
