import type { ToolDetail } from '../tools/index.ts';
import { type CalledTool, type CallSite, callFields, closeCall, itemOf, type PreparedCall } from './call-tool.ts';

const CUT_OFF = 'belay itself was ended while this ran';
const CUT_OFF_NOTE = `cancelled: ${CUT_OFF}, so it is not known how far it got. It was not run again: look at what it left before you go on.`;

interface CutOffOutput {
  id: string;
  totalBytes: number;
}

const readBack = (output: CutOffOutput) =>
  ` What it had printed by then (${output.totalBytes} bytes): read_output output_id=${output.id}`;

/**
 * A call that was in flight when the run was killed. Nobody knows what it did: the model decides what to do about it. `output`: what it had
 * printed, where that was so much that it was kept.
 */
export async function cancelCall(
  call: Extract<PreparedCall, { kind: 'ready' }>,
  site: CallSite,
  output: CutOffOutput | null,
): Promise<CalledTool> {
  const { part, tool, input } = call;
  const common = { id: site.ports.nextItemId(), status: 'cancelled' as const, ...callFields(part) };
  const plain = itemOf(cutOff(tool.describe(input)), common);
  const isKept = output !== null && plain.type === 'command_execution';
  const item = isKept ? { ...plain, output_id: output.id } : plain;
  return closeCall(
    site,
    { ...item, duration_ms: 0 },
    {
      result: {
        callId: part.id,
        name: part.name,
        text: CUT_OFF_NOTE + (output === null ? '' : readBack(output)),
        isError: true,
        ...(output === null ? {} : { outputId: output.id }),
      },
      denial: null,
      mayHaveChanged: true,
      isCutOff: true,
    },
  );
}

function cutOff(detail: ToolDetail): ToolDetail {
  if (detail.type === 'command_execution') return { ...detail, reason: CUT_OFF };
  return detail.type === 'file_change' || detail.type === 'tool_call' ? { ...detail, error: CUT_OFF } : detail;
}
