import * as z from 'zod';
import { BatchEvent } from './batch-event.ts';
import { Event } from './event.ts';
import { Job } from './job.ts';
import { Result } from './result.ts';

type JsonSchema = Record<string, unknown>;

/** JSON Schema (2020-12) of one line of the event stream, of a run or of a batch. */
export function eventsSchema(): JsonSchema {
  const line = z.discriminatedUnion('type', [...Event.options, ...BatchEvent.options]);
  return publish(line, 'belay event', 'One line of the event stream of belay run or belay batch.');
}

/** JSON Schema (2020-12) of the result: what `run.completed` carries and `--result` writes. */
export function resultSchema(): JsonSchema {
  return publish(Result, 'belay.result/v1', 'The verdict of one belay run.');
}

/** JSON Schema (2020-12) of one line of a batch file. */
export function jobSchema(): JsonSchema {
  return publish(Job, 'belay job', 'One line of the job file of belay batch.');
}

function publish(schema: z.ZodType, title: string, description: string): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'output', target: 'draft-2020-12' });
  return { $schema, title, description, ...rest };
}
