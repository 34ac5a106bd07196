import { UsageError } from '../../errors.ts';
import { isJudged, Outcome } from '../../events/index.ts';

export type FailOn =
  | { kind: 'not-verified' }
  | { kind: 'error' }
  | { kind: 'never' }
  | { kind: 'outcomes'; outcomes: readonly Outcome[] };

export function parseFailOn(text: string): FailOn {
  const word = text.trim();
  if (word === '' || word === 'not-verified') return { kind: 'not-verified' };
  if (word === 'error' || word === 'never') return { kind: word };
  const outcomes = word.split(',').map((one) => {
    const outcome = Outcome.safeParse(one.trim());
    if (!outcome.success)
      throw new UsageError(
        `input fail-on: ${JSON.stringify(one.trim())} is none of not-verified, error, never, ${Outcome.options.join(', ')}`,
      );
    return outcome.data;
  });
  return { kind: 'outcomes', outcomes };
}

/** The exit code of the step: belay's own, or 0 where this end is none that the workflow wants to fail on. */
export function decideExitCode(failOn: FailOn, { outcome, exitCode }: { outcome: Outcome; exitCode: number }): number {
  if (failOn.kind === 'never') return 0;
  if (failOn.kind === 'error') return isJudged(outcome) ? 0 : exitCode;
  if (failOn.kind === 'not-verified') return exitCode;
  // An outcome that the workflow names fails the step, whatever its exit code.
  return failOn.outcomes.includes(outcome) ? exitCode || 1 : 0;
}
