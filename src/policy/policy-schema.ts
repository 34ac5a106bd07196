import * as z from 'zod';
import { policyFile } from './policy-file.ts';

/** JSON Schema of the file, for editors and `belay schema policy`. */
export function policySchema(): Record<string, unknown> {
  return {
    $id: 'urn:belay:schema:policy:v1',
    title: 'belay policy',
    ...z.toJSONSchema(policyFile, { io: 'input' }),
  };
}
