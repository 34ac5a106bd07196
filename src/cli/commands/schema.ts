import { UsageError } from '../../errors.ts';
import { eventsSchema, jobSchema, renderJson, resultSchema } from '../../events/index.ts';
import { policySchema } from '../../policy/index.ts';
import type { Handler } from '../command.ts';
import { print } from '../print.ts';

const SCHEMAS: ReadonlyMap<string, () => object> = new Map([
  ['policy', policySchema],
  ['events', eventsSchema],
  ['result', resultSchema],
  ['job', jobSchema],
]);

export const printSchema: Handler = async ({ words: [name = ''], io }) => {
  const schema = SCHEMAS.get(name);
  if (schema === undefined)
    throw new UsageError(`there is no schema ${JSON.stringify(name)}; one of ${[...SCHEMAS.keys()].join(', ')}`);
  await print(io.stdout, renderJson(schema()));
  return 0;
};
