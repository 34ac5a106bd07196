import { randomBytes } from 'node:crypto';
import type { BatchEvent } from './batch-event.ts';
import { createSpanSender, type SpanSenderOptions } from './span-sender.ts';
import { addChatUsage } from './trace-attributes.ts';
import type { Attributes } from './trace-span.ts';

type Completed = Extract<BatchEvent, { type: 'batch.completed' }>;

/** One span around a batch. Its runs send theirs themselves, each from its own process: `env` says what they hang below. */
export function createBatchTrace(env: NodeJS.ProcessEnv, options: SpanSenderOptions) {
  const { context } = options;
  const spanId = randomBytes(8).toString('hex');
  const sender = createSpanSender(options);
  let startMs: number | null = null;
  return {
    env: { ...env, TRACEPARENT: `00-${context.traceId}-${spanId}-01` },
    sink: {
      writeRun: async () => undefined,
      async writeBatch(_line: string, event: BatchEvent) {
        const at = Date.parse(event.time);
        startMs ??= at;
        if (event.type !== 'batch.completed') return;
        const error = event.exit_code === 0 ? null : (event.stopped?.kind ?? 'jobs_failed');
        const attributes = { ...attributesOf(event), ...(error === null ? {} : { 'error.type': error }) };
        const { parentSpanId } = context;
        sender.add([{ spanId, parentSpanId, name: 'batch', kind: 'internal', startMs, endMs: at, attributes, error }]);
      },
      close: () => sender.close(),
    },
  };
}

function attributesOf({ run_id, shard, jobs, outcomes, recorded, exit_code, cost_usd, usage }: Completed): Attributes {
  return {
    'belay.batch_id': run_id,
    ...(shard === null ? {} : { 'belay.shard': `${shard.index}/${shard.total}` }),
    'belay.jobs': jobs,
    'belay.jobs.verified': outcomes.verified ?? 0,
    'belay.jobs.recorded': recorded,
    'belay.exit_code': exit_code,
    ...(cost_usd === null ? {} : { 'belay.cost_usd': cost_usd }),
    ...addChatUsage(usage),
  };
}
