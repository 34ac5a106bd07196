import * as z from 'zod';
import { parseJson } from '../events/index.ts';
import type { Tool, ToolDetail } from './tool.ts';

const Input = z.strictObject({
  steps: z
    .array(z.strictObject({ text: z.string().max(1000), status: z.enum(['pending', 'in_progress', 'completed']) }))
    .max(100),
});
type Input = z.infer<typeof Input>;

function planOf(input: Input): ToolDetail {
  return {
    type: 'todo_list',
    items: input.steps.map(({ text, status }) => ({ text, completed: status === 'completed' })),
  };
}

export const updatePlan: Tool<Input> = {
  name: 'update_plan',
  description: 'Set the whole plan of a longer task; it is kept in view when old messages are dropped.',
  input: Input,
  readOnly: true,
  itemType: 'todo_list',
  action: () => ({ kind: 'none' }),
  describe: planOf,
  execute: async (input) => ({ status: 'completed', note: 'Plan updated.', detail: planOf(input) }),
};

/** The plan that a call of `update_plan` sets, one line a step; null when its input is not valid. */
export function parsePlan(json: string): string | null {
  let value: unknown;
  try {
    value = parseJson(json);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const parsed = Input.safeParse(value);
  return parsed.success ? parsed.data.steps.map(({ text, status }) => `- [${status}] ${text}`).join('\n') : null;
}
