import * as z from 'zod';
import type { Finish, Tool } from './tool.ts';

const Input = z.strictObject({
  status: z.enum(['done', 'cannot', 'needs_input']),
  summary: z.string(),
  risks: z.array(z.string()).optional(),
  question: z.string().optional(),
  output: z.unknown().optional().describe('the answer, where the task asks for one in a schema'),
});
type Input = z.infer<typeof Input>;

function finishOf(input: Input): Finish {
  return {
    status: input.status,
    summary: input.summary,
    risks: input.risks ?? [],
    question: input.question ?? (input.status === 'needs_input' ? input.summary : null),
    output: input.output ?? null,
  };
}

/** Ends the agent's work; it proves nothing: the checks decide. */
export const finish: Tool<Input> = {
  name: 'finish',
  description: 'End your work; the checks then decide. Call it alone, when nothing is left to do.',
  input: Input,
  readOnly: false,
  itemType: null,
  action: () => ({ kind: 'none' }),
  describe: (input) => ({ type: 'finish', finish: finishOf(input) }),
  execute: async (input) => ({
    status: 'completed',
    note: 'Finished.',
    detail: { type: 'finish', finish: finishOf(input) },
  }),
};
