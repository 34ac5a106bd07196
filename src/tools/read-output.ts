import * as z from 'zod';
import type { Tool, ToolDetail, ToolOutcome } from './tool.ts';

const Input = z.strictObject({
  output_id: z.string(),
  offset: z.int().min(0).optional(),
  limit: z.int().min(1).optional(),
});
type Input = z.infer<typeof Input>;

function detailOf(input: Input, error: string | null): ToolDetail {
  return { type: 'tool_call', summary: `read output ${input.output_id} from byte ${input.offset ?? 0}`, error };
}

export const readOutput: Tool<Input> = {
  name: 'read_output',
  description: 'Read a part of an output that was cut; offset and limit in bytes.',
  input: Input,
  readOnly: true,
  itemType: 'tool_call',
  action: () => ({ kind: 'none' }),
  describe: (input) => detailOf(input, null),
  async execute(input, { ports, output }): Promise<ToolOutcome> {
    const offset = input.offset ?? 0;
    // What is written here is bounded again for the model: more than this would be cut in the middle once more.
    const most = ports.policy.limits.outputBytes;
    const limit = Math.min(input.limit ?? most, most);
    const read = await ports.readOutput(input.output_id, { offset, limit });
    if (read === null || 'fault' in read) {
      const error = read?.fault ?? `there is no kept output with the id ${JSON.stringify(input.output_id)}`;
      return { status: 'failed', note: error, detail: detailOf(input, error) };
    }
    await output.write(read.text);
    const end = Math.min(offset + limit, read.totalBytes);
    const more = end < read.totalBytes ? `; go on with offset ${end}` : '';
    const note = offset >= read.totalBytes ? 'beyond the end of' : `bytes ${offset} to ${end} of`;
    return { status: 'completed', note: `${note} ${read.totalBytes}${more}`, detail: detailOf(input, null) };
  },
};
