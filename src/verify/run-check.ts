import type { Item, ItemStatus } from '../events/index.ts';
import type { Check } from '../policy/index.ts';
import type { CommandEnd } from '../sandbox/index.ts';
import type { CheckRun } from './check-run.ts';
import { judgeExpectation } from './expect.ts';
import { type CapturedOutput, createOutputCapture } from './output-capture.ts';
import type { CheckPorts, Place } from './place.ts';

export interface CheckSite {
  place: Place;
  ports: CheckPorts;
  /** Tests that the baseline ran, for `expect.tests`; null: not known. */
  testsBefore: number | null;
  /** Whether the output goes to nobody: only the exit status is told (a round with a holdout). */
  secret: boolean;
}

/**
 * Runs one check and tells so: an item of type `check` is started and always completed. Never rejects for what the check or the
 * sandbox does.
 */
export async function runCheck(check: Check, site: CheckSite, signal: AbortSignal): Promise<CheckRun> {
  const { ports, place } = site;
  const id = ports.nextItemId();
  const item = { id, type: 'check', name: check.name, command: check.run } as const;
  await ports.emit({
    type: 'item.started',
    item: { ...item, status: 'in_progress', exit_code: null, passed: null, aggregated_output: '' },
    turn: null,
    phase: place.phase,
  });
  const run = await observe(check, site, signal);
  await ports.emit({ type: 'item.completed', item: { ...item, ...itemOf(run) }, turn: null, phase: place.phase });
  return run;
}

async function observe(check: Check, site: CheckSite, signal: AbortSignal): Promise<CheckRun> {
  const { ports, place } = site;
  const timeLeftMs = ports.timeLeftMs();
  const about = { name: check.name, command: check.run, required: check.required, flaky: false };
  const idle = { ...about, exitCode: null, durationMs: 0, output: null, tests: null, wallTimeOver: false };
  if (signal.aborted) return { ...idle, status: 'cancelled', reason: 'was cancelled before it started' };
  if (timeLeftMs <= 0)
    return { ...idle, status: 'timed_out', reason: 'did not start: the wall time is over', wallTimeOver: true };

  const capture = createOutputCapture({
    outputBytes: ports.outputBytes,
    keepMatched: check.expect.matches !== null,
    countTests: check.expect.testsNotFewer,
    redactor: ports.redactStream(),
  });
  const home = await ports.openHome();
  const network = ports.watchNetwork(place.phase);
  let end: CommandEnd;
  try {
    end = await ports.sandbox.run(
      {
        script: scriptOf(check),
        workdir: place.dir,
        env: ports.environment(check.env),
        mounts: place.mounts,
        home: home.dir,
        network: check.network ?? ports.network,
        // Names of hosts would tell of hidden files too.
        ...(site.secret ? {} : { onNetwork: network.onNetwork }),
        timeoutMs: Math.min(check.timeoutMs, timeLeftMs),
        onOutput: (chunk) => capture.write(chunk),
      },
      signal,
    );
  } finally {
    await home.close();
    await network.told();
  }
  const captured = capture.end();
  const judged = await judge(check, end, { ...captured, testsBefore: site.testsBefore });
  return {
    ...about,
    ...judged,
    exitCode: end.exitCode,
    durationMs: Math.round(end.durationMs),
    output: site.secret ? null : outputOf(captured),
    tests: site.secret ? null : captured.tests,
    reason: site.secret && end.reason === 'exited' ? secretReason(judged) : judged.reason,
    wallTimeOver: end.reason === 'timed_out' && timeLeftMs < check.timeoutMs,
  };
}

/** A workdir that the change removed is a failed check, not a fence that cannot be set up: so the script goes there itself. */
function scriptOf(check: Check): string {
  return check.workdir === null
    ? check.run
    : `cd -- '${check.workdir.replaceAll("'", "'\\''")}' || exit 1\n${check.run}`;
}

type Judged = Pick<CheckRun, 'status' | 'reason'>;

async function judge(
  check: Check,
  end: CommandEnd,
  observed: CapturedOutput & { testsBefore: number | null },
): Promise<Judged> {
  switch (end.reason) {
    case 'exited': {
      if (end.exitCode !== 0) return { status: 'failed', reason: `ended with ${describeExit(end.exitCode)}` };
      const reason = await judgeExpectation(check.expect, observed);
      return { status: reason === null ? 'passed' : 'failed', reason };
    }
    case 'timed_out':
      return { status: 'timed_out', reason: 'was still running when its time was over' };
    case 'cancelled':
      return { status: 'cancelled', reason: 'was cancelled' };
    case 'failed_to_start':
      return { status: 'blocked', reason: `could not be started: ${end.detail ?? 'the sandbox gave no reason'}` };
    case 'killed':
      return { status: 'failed', reason: `was killed: ${end.detail ?? 'a bound of the sandbox was reached'}` };
  }
}

/** What an exit status alone tells. */
function describeExit(code: number | null): string {
  if (code === 127) return 'exit status 127 (command not found)';
  if (code === 126) return 'exit status 126 (not executable)';
  if (code !== null && code > 128 && code <= 192) return `exit status ${code} (signal ${code - 128})`;
  return code === null ? 'no exit status' : `exit status ${code}`;
}

/** Words that tell nothing of the output: what it should have matched or how many tests ran stays untold. */
function secretReason(judged: Judged): string | null {
  return judged.status === 'passed' ? null : 'failed';
}

function outputOf({ text, omission, sha256, tail }: CapturedOutput): CheckRun['output'] {
  return { text, omission, sha256, tail };
}

const ITEM_STATUS: Record<CheckRun['status'], ItemStatus> = {
  passed: 'completed',
  failed: 'failed',
  timed_out: 'timed_out',
  cancelled: 'cancelled',
  blocked: 'failed',
};

type CheckItem = Extract<Item, { type: 'check' }>;

function itemOf(run: CheckRun): Omit<CheckItem, 'id' | 'type' | 'name' | 'command'> {
  const isJudged = run.status !== 'cancelled' && run.status !== 'blocked';
  return {
    status: ITEM_STATUS[run.status],
    duration_ms: run.durationMs,
    exit_code: run.exitCode,
    passed: isJudged ? run.status === 'passed' : null,
    aggregated_output: run.output?.text ?? '',
    ...(run.output?.omission ? { omission: run.output.omission } : {}),
    ...(run.output === null ? {} : { output_sha256: run.output.sha256 }),
    ...(run.reason === null ? {} : { reason: run.reason }),
  };
}
