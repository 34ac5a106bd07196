import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';

export const ROOT = join(import.meta.dirname, '../..');

const Scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const Texts = z.record(z.string(), Scalar);

export const Step = z.looseObject({
  id: z.string().optional(),
  name: z.string().optional(),
  if: Scalar.optional(),
  uses: z.string().optional(),
  with: Texts.default({}),
  run: z.string().optional(),
  shell: z.string().optional(),
  env: Texts.default({}),
  'working-directory': z.string().optional(),
  'continue-on-error': Scalar.optional(),
});
export type Step = z.infer<typeof Step>;

const Action = z.looseObject({
  inputs: z.record(z.string(), z.looseObject({ default: Scalar.default('') })),
  outputs: z.record(z.string(), z.looseObject({ value: z.string() })),
  runs: z.looseObject({ using: z.literal('composite'), steps: z.array(Step) }),
});
export type Action = z.infer<typeof Action>;

export function loadAction(file = 'action.yml'): Action {
  return Action.parse(parse(readFileSync(join(ROOT, file), 'utf8')));
}
