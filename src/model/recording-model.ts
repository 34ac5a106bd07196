import { constants } from 'node:fs';
import { appendFile, realpath, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codeOf, UsageError } from '../errors.ts';
import { type CassetteAnswer, renderCassetteAnswer } from './cassette.ts';
import type { Model, ModelOutcome } from './model.ts';
import { createRequestDigest } from './request-digest.ts';
import { isRecord } from './tool-input.ts';

export interface RecordingModelOptions {
  /** The cassette. What it held before is replaced; it must not be the one that is played. */
  path: string;
  /** Applied to every string that is written. */
  redact(text: string): string;
  /** A line could not be written: the run goes on, its recording is not whole. */
  onError(error: unknown): Promise<void> | void;
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Writes each answer, and each failure that no repeat can mend, as a line of a cassette, in one append a line. */
export async function createRecordingModel(model: Model, options: RecordingModelOptions): Promise<Model> {
  const { redact, onError } = options;
  let path = resolve(options.path);
  try {
    await writeFile(path, '');
    path = await realpath(path);
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    throw new UsageError(`the cassette ${options.path} cannot be written (${code})`, {
      code: 'cassette',
      cause: error,
    });
  }
  const digestOf = createRequestDigest();
  return {
    provider: model.provider,
    name: model.name,
    contextWindow: model.contextWindow,
    costOf: (usage) => model.costOf(usage),
    async answer(request, answerOptions) {
      const outcome = await model.answer(request, answerOptions);
      const said = lineOf(outcome, digestOf(request));
      if (said === null) return outcome;
      const line = request.purpose === undefined ? said : { ...said, purpose: request.purpose };
      try {
        // Where there is no fence around the file, an agent may have put a link in its place.
        await appendFile(path, `${JSON.stringify(redactStrings(line, redact))}\n`, { flag: APPEND });
      } catch (error) {
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
