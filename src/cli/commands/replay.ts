import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { type Event, type EventSink, type Outcome, readEvents, renderJson } from '../../events/index.ts';
import { cassetteFromEvents } from '../../model/index.ts';
import type { LoadedPolicy } from '../../policy/index.ts';
import { findDrift, type RunRequest, startRun } from '../../run/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { endOf, handleAsked } from '../handle-run.ts';
import { loadOutputSchema } from '../load-output-schema.ts';
import { loadPolicyAloud } from '../load-policy-for.ts';
import { loadReferences } from '../load-references.ts';
import { openNamedThread } from '../named-thread.ts';
import { requireWritable } from '../output-file.ts';
import { print } from '../print.ts';
import { listOf, textOf } from '../read-options.ts';
import { renderDrift } from '../render-drift.ts';
import { streamFiles } from '../stream-files.ts';
import { requireReadable } from './audit.ts';

const DRIFT = 16;
/** Outcomes of a replay that did not come so far that it could differ. */
const NOT_REPLAYED: ReadonlySet<Outcome> = new Set([
  'interrupted',
  'internal_error',
  'usage_error',
  'busy',
  'sandbox_unavailable',
]);

interface Recorded {
  events: Event[];
  /** A thread's last run is under way, or was killed. */
  isPart: boolean;
}

/** Events of a file, or of a thread by its id. */
async function loadEvents(source: string, { io }: Invocation): Promise<Recorded> {
  const path = resolve(io.cwd(), source);
  const thread = await openNamedThread(source, io);
  if (thread === null) await requireReadable(path);
  for await (const fault of thread?.checkOutputs() ?? []) throw new UsageError(`${source}: ${fault}`);
  const events: Event[] = [];
  for await (const line of thread === null ? readEvents(path) : thread.readEvents()) {
    // Half a line at the end is what a killed run leaves, and nothing is lost with it.
    if (line.kind === 'fault' && line.reason === 'torn' && thread !== null) break;
    if (line.kind === 'fault') throw new UsageError(`${source}:${line.lineNumber}: ${line.message}`);
    events.push(line.event);
  }
  const isPart = thread !== null && events.at(-1)?.type !== 'run.completed';
  if (isPart)
    await print(io.stderr, `belay: the last run of ${source} has no end on record: what there is is compared\n`);
  return { events, isPart };
}

/** The limits of the recorded run: options may have tightened the policy's. */
function withRecordedLimits(loaded: LoadedPolicy, recorded: Readonly<Record<string, number>>): LoadedPolicy {
  const { limits } = loaded.policy;
  const of = (name: string, max: number) => Math.min(recorded[name] ?? max, max);
  const own = {
    turns: of('turns', limits.turns),
    attempts: of('attempts', limits.attempts),
    tokens: of('tokens', limits.tokens),
  };
  return { ...loaded, policy: { ...loaded.policy, limits: { ...limits, ...own } } };
}

interface Asked extends Recorded {
  request: RunRequest;
  driftFile: string | null;
}

async function readReplay(invocation: Invocation): Promise<Asked> {
  const { io, options, words, version } = invocation;
  const source = words[0] ?? '';
  const recorded = await loadEvents(source, invocation);
  const started = recorded.events.find((event) => event.type === 'run.started');
  if (started?.type !== 'run.started' || !started.goal)
    throw new UsageError(`${source}: there is no run.started event with a goal`);
  const cwd = io.cwd();
  const workspace = resolve(cwd, textOf(options, 'workspace') ?? '.');
  const query = { options, workspace, cwd, env: io.env };
  const { policy: loaded, trustRef, location } = await loadPolicyAloud(query, io.stderr);
  const schema = textOf(options, 'output-schema');
  const drift = textOf(options, 'drift');
  const driftFile = drift === null ? null : resolve(cwd, drift);
  if (driftFile !== null) await requireWritable('--drift', driftFile);
  const request: RunRequest = {
    kind: 'agent',
    version,
    goal: started.goal.text,
    policy: withRecordedLimits(loaded, started.limits ?? {}),
    workspace,
    location,
    references: await loadReferences(listOf(options, 'context'), cwd),
    outputSchema: schema === null ? null : await loadOutputSchema(resolve(cwd, schema)),
    replay: await cassetteFromEvents(recorded.events),
    record: null,
    trustRef,
    ephemeral: true,
    files: { result: null, patch: null, message: null },
    streamFiles: streamFiles(options, io),
    environment: io.env,
    stateDir: null,
    delivery: 'discard',
  };
  return { ...recorded, request, driftFile };
}

/** `belay replay`: the recorded answers once more, against the code as it is now. The workspace is put back afterwards. */
export const replayEvents: Handler = (invocation) =>
  handleAsked(invocation, readReplay, async ({ request, events, isPart, driftFile }, streams) => {
    const { io, options } = invocation;
    const replayed: Event[] = [];
    const run = startRun(request, { ...streams, others: [...streams.others, collectInto(replayed)] });
    const result = await endOf(run, invocation);
    if (NOT_REPLAYED.has(result.outcome)) return result.exit_code;
    const drift = findDrift(events, replayed, isPart);
    if (driftFile !== null) await writeFile(driftFile, renderJson(drift));
    if (drift === null) return 0;
    await print(io.stderr, `belay: ${renderDrift(drift)}\n`);
    return textOf(options, 'fail-on') === 'never' ? 0 : DRIFT;
  });

function collectInto(events: Event[]): EventSink {
  return {
    async write(_line, event) {
      events.push(event);
    },
    async close() {},
  };
}
