import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from '../errors.ts';

/** A goal is words, not data; references go through --context. */
const MOST_BYTES = 1_048_576;

export interface GoalSources {
  /** The argument; `-` means stdin. */
  word: string | null;
  file: string | null;
  stdin: Readable;
}

/** The goal's text. stdin is read only when the argument is `-`. Bad UTF-8, an empty or a huge goal is a usage error. */
export async function readGoal({ word, file, stdin }: GoalSources): Promise<string> {
  if (word !== null && file !== null) throw new UsageError('give the goal as an argument or by --goal-file, not both');
  if (file !== null) return readGoalFile(file, '--goal-file');
  if (word === '-') return decode(await readAll(stdin), 'stdin');
  if (word === null)
    throw new UsageError("there is no goal: belay run 'the goal', --goal-file F, or - to read it from stdin");
  return decode(Buffer.from(word), 'the goal');
}

/** `option`: what named the file, for messages. */
export async function readGoalFile(path: string, option: string): Promise<string> {
  return decode(await bytesOf(path, option), `${option} ${path}`);
}

async function bytesOf(path: string, option: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${option}: cannot read ${path} (${error instanceof Error ? error.message : String(error)})`, {
      cause: error,
    });
  }
}

async function readAll(stdin: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += buffer.length;
    if (bytes > MOST_BYTES) throw new UsageError(`the goal on stdin is longer than ${MOST_BYTES} bytes`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, source: string): string {
  refuseHuge(bytes.length, source);
  try {
    return refuseBlank(new TextDecoder('utf-8', { fatal: true }).decode(bytes), source);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${source}: the goal is not valid UTF-8`, { cause: error });
  }
}

/** The text, where it may be a goal. */
export function refuseUnfit(text: string, source: string): string {
  refuseHuge(Buffer.byteLength(text), source);
  return refuseBlank(text, source);
}

function refuseHuge(bytes: number, source: string): void {
  if (bytes > MOST_BYTES) throw new UsageError(`${source}: the goal is longer than ${MOST_BYTES} bytes`);
}

function refuseBlank(text: string, source: string): string {
  if (text.trim() === '') throw new UsageError(`${source}: the goal is empty`);
  return text;
}
