import * as z from 'zod';
import { count, duration, section, size } from './policy-file-fields.ts';

const DAY_MS = 86_400_000;
const costRule = 'expected USD above 0 and up to 1000000';

/** Largest values that an option or a policy may name; the smallest keep a run from being pointless. */
export const LIMIT_FIELDS = {
  turns: count(1, 100_000),
  attempts: count(1, 100),
  wall_time: duration(1000, 30 * DAY_MS),
  tokens: count(1, 1_000_000_000_000),
  cost_usd: z.number({ error: costRule }).gt(0, { error: costRule }).max(1_000_000, { error: costRule }),
  tool_calls: count(1, 1_000_000),
};

export const limitsSection = section({
  turns: LIMIT_FIELDS.turns.optional().describe('Model answers. Absent: 40.'),
  attempts: LIMIT_FIELDS.attempts.optional().describe('Rounds of verification. Absent: 3.'),
  wall_time: LIMIT_FIELDS.wall_time.optional().describe('Time of the whole run, everything included. Absent: 30m.'),
  command_time: duration(100, 7 * DAY_MS)
    .optional()
    .describe("Time of one of the agent's commands. Absent: 5m."),
  tokens: LIMIT_FIELDS.tokens.optional().describe('Input and output tokens over the run. Absent: 2000000.'),
  cost_usd: LIMIT_FIELDS.cost_usd.optional().describe('USD over the run. Absent: 5, where the price is known.'),
  tool_calls: LIMIT_FIELDS.tool_calls.optional().describe('Tool calls over the run. Absent: 200.'),
  repeats: count(2, 1000).optional().describe('The same call with the same result, in a row. Absent: 3.'),
  output_bytes: size(256, 16 * 2 ** 20)
    .optional()
    .describe("What the model sees of one command's output, head and tail. Absent: 16384."),
  changed_files: count(0, 1_000_000).optional().describe('Files that the change may touch; 0: none. Absent: 50.'),
  changed_lines: count(0, 100_000_000)
    .optional()
    .describe('Lines that the change may add and remove; 0: none. Absent: 2000.'),
});
