import { UsageError } from '../errors.ts';
import { type LineFile, openLineFile } from '../events/index.ts';
import { type CassetteAnswer, renderCassetteAnswer } from './cassette.ts';
import type { Model, ModelOutcome } from './model.ts';
import { createRequestDigest } from './request-digest.ts';
import { isRecord } from './tool-input.ts';

export interface RecordingModelOptions {
  /** Of the cassette; it is open, and stays with whoever opened it. */
  file: Pick<LineFile, 'write' | 'isInPlace'>;
  /** Applied to every string that is written. */
  redact(text: string): string;
  /** Called once, where a line is not written or the file has lost its name: the run goes on, its recording is not whole. */
  onError(error: unknown): Promise<void> | void;
}

/**
 * Opens a cassette for a whole run; what it held before is gone, and it must not be the one that is played. An agent may put anything in
 * its place meanwhile: no line follows it there. `signal` ends the wait for the reader of a pipe. Throws UsageError.
 */
export function openCassette(path: string, signal: AbortSignal): Promise<LineFile> {
  return openLineFile(path, {
    signal,
    refuse: (code, cause) =>
      new UsageError(`the cassette ${path} cannot be written (${code})`, { code: 'cassette', cause }),
  });
}

/** Writes each answer, and each failure that no repeat can mend, as a line of a cassette, in one write a line. */
export function createRecordingModel(model: Model, { file, redact, onError }: RecordingModelOptions): Model {
  const digestOf = createRequestDigest();
  let isWhole = true;
  return {
    provider: model.provider,
    name: model.name,
    contextWindow: model.contextWindow,
    costOf: (usage) => model.costOf(usage),
    async answer(request, answerOptions) {
      const outcome = await model.answer(request, answerOptions);
      const said = lineOf(outcome, digestOf(request));
      // Behind a gap, a replay would give answers to other questions.
      if (said === null || !isWhole) return outcome;
      const line = request.purpose === undefined ? said : { ...said, purpose: request.purpose };
      try {
        await file.write(`${JSON.stringify(redactStrings(line, redact))}\n`);
        if (!(await file.isInPlace())) throw new Error('it was moved, removed or replaced during the run');
      } catch (error) {
        isWhole = false;
        await onError(error);
      }
      return outcome;
    },
  };
}

function lineOf(outcome: ModelOutcome, requestSha256: string): CassetteAnswer | null {
  if (outcome.kind === 'answer') return renderCassetteAnswer(outcome.answer, requestSha256);
  if (outcome.kind === 'aborted' || outcome.failure.httpStatus === undefined || outcome.failure.retryable) return null;
  const { httpStatus, message } = outcome.failure;
  return { request_sha256: requestSha256, error: { http_status: httpStatus, message } };
}

function redactStrings(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((entry) => redactStrings(entry, redact));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'request_sha256' || key === 'purpose' ? inner : redactStrings(inner, redact),
    ]),
  );
}
