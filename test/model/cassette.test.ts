import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Answer,
  createRecordingModel,
  createReplayModel,
  createRequestDigest,
  type Drift,
  type FinishReason,
  type Model,
  openCassette,
} from '../../src/model/index.ts';
import { answerOf, ask, failureOf, modelPolicy, requestOf, resultsFor } from './fixtures.ts';

const USAGE = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  requests: 1,
  retries: 0,
};

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-cassette-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function cassette(text: string): Promise<string> {
  const file = join(await tempFolder(), 'tape.jsonl');
  await writeFile(file, text);
  return file;
}

const replay = async (text: string, given = {}): Promise<Model> =>
  createReplayModel({ cassette: await cassette(text), model: null, ...given });

describe('a replayed model', () => {
  test('gives the answers in order, whatever is asked, and says when there are no more', async () => {
    const model = await replay(
      '\ufeff{"text":"hi","reasoning":"hm","tool_calls":[{"name":"shell","input":{"command":"ls"}},{"name":"x","raw_arguments":"{"}],"usage":{"input_tokens":9}}\r\n\n{}\n',
    );
    expect([model.provider, model.name]).toEqual(['replay', 'tape.jsonl']);
    expect(answerOf(await ask(model))).toEqual({
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'hi' },
        { type: 'tool_call', id: 'r0_0', name: 'shell', input: '{"command":"ls"}' },
        { type: 'tool_call', id: 'r0_1', name: 'x', input: '{' },
      ],
      finish: 'tool_calls',
      usage: { ...USAGE, input_tokens: 9 },
    });
    expect(answerOf(await ask(model))).toEqual({ parts: [], finish: 'stop', usage: USAGE });
    expect(failureOf(await ask(model))).toEqual({
      code: 'cassette',
      message: 'the cassette tape.jsonl is used up: it has 2 answers',
      retryable: false,
    });
  });

  test('bears the name of the policy’s model and its price', async () => {
    const model = modelPolicy({ provider: 'openai', name: 'gpt-5', price: { input: 2, cachedInput: 1, output: 10 } });
    const replayed = await replay('{}', { model });
    expect([replayed.provider, replayed.name, replayed.contextWindow]).toEqual(['openai', 'gpt-5', 400_000]);
    expect(
      replayed.costOf({ ...USAGE, input_tokens: 3_000_000, cached_input_tokens: 1_000_000, output_tokens: 100_000 }),
    ).toBe(6);
  });

  test('retries scripted errors as real ones', async () => {
    const text =
      '{"error":{"http_status":429,"retry_after_s":0}}\n{"error":{"reset":true}}\n{"text":"ok"}\n{"error":{"http_status":401,"message":"who?"}}\n{"text":"never"}';
    const model = await replay(text, { model: modelPolicy({ retries: 2 }) });
    const first = await ask(model);
    expect(answerOf(first).usage).toEqual({ ...USAGE, requests: 3, retries: 2 });
    expect(first.retries.map(({ httpStatus }) => httpStatus)).toEqual([429, undefined]);
    expect(failureOf(await ask(model))).toEqual({
      code: 'auth',
      message: 'openai-compatible answered 401: who?',
      retryable: false,
      httpStatus: 401,
    });
  });

  test('waits for delay_ms unless aborted', async () => {
    const model = await replay('{"delay_ms":10,"text":"a"}\n{"delay_ms":60000}');
    expect(answerOf(await ask(model)).parts).toHaveLength(1);
    const controller = new AbortController();
    const waiting = ask(model, requestOf(), controller.signal);
    setImmediate(() => controller.abort());
    expect((await waiting).outcome.kind).toBe('aborted');
  });

  test('makes no id that the thread has already', async () => {
    const line = '{"tool_calls":[{"name":"shell"}]}\n';
    const first = await ask(await replay(line));
    const second = await ask(await replay(line), requestOf(resultsFor(first)));
    expect(answerOf(second).parts).toEqual([{ type: 'tool_call', id: 'r0_0_1', name: 'shell', input: '{}' }]);
  });

  test.each([
    ['{"text":"a"}\n{"text": tru}', '2:10', 'this is not JSON'],
    ['{"text":"a"', '1:12', 'this is not JSON'],
    ['{"text":"a",}', '1:1', 'this is not JSON'],
    ['\n\n{"text":"a", "txt":"b"}', '3:14', 'Unrecognized key: "txt" (txt)'],
    [
      '{"tool_calls":[{"name":"a"},{"nome":"b"}]}',
      '1:29',
      'Invalid input: expected string, received undefined (tool_calls.1.name)',
    ],
    ['[]', '1:1', 'Invalid input: expected object, received array'],
    ['{"delay_ms":-1}', '1:2', 'Too small: expected number to be >=0 (delay_ms)'],
  ])('refuses %j before anything is asked', async (text, place, message) => {
    const file = await cassette(text);
    const [line, column] = place.split(':').map(Number);
    await expect(createReplayModel({ cassette: file, model: null })).rejects.toMatchObject({
      name: 'UsageError',
      code: 'cassette',
      message: `${file}:${place}: ${message}`,
      position: { file, line, column },
    });
  });

  test('refuses what is not there', async () => {
    await expect(createReplayModel({ cassette: '/nonexistent/tape', model: null })).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining('ENOENT'),
    });
    await expect(createReplayModel({ cassette: await tempFolder(), model: null })).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining('EISDIR'),
    });
  });
});

/** A model that says what it is told to say. */
function saying(answers: readonly Answer[]): Model {
  const left = [...answers];
  return {
    provider: 'p',
    name: 'm',
    contextWindow: 128_000,
    costOf: () => null,
    async answer() {
      const answer = left.shift();
      return answer === undefined
        ? { kind: 'failed', failure: { code: 'auth', message: 'no', retryable: false, httpStatus: 403 }, usage: USAGE }
        : { kind: 'answer', answer };
    },
  };
}

const call = fc.record({
  type: fc.constant('tool_call' as const),
  id: fc.uuid(),
  name: fc.string({ minLength: 1 }),
  input: fc.oneof(fc.json(), fc.string()),
});
const optional = <T>(part: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(part, { maxLength: 1 });
const written = fc.string({ minLength: 1, unit: 'binary' });
const count = fc.nat();
/** An answer in the order that cassettes keep. */
const answer: fc.Arbitrary<Answer> = fc
  .record({
    reasoning: optional(written.map((text) => ({ type: 'reasoning' as const, text }))),
    text: optional(written.map((text) => ({ type: 'text' as const, text }))),
    calls: fc.array(call, { maxLength: 3 }),
    finish: fc.constantFrom<FinishReason>('stop', 'tool_calls', 'refusal', 'content_filter', 'other'),
    usage: fc.record({
      input_tokens: count,
      cached_input_tokens: count,
      output_tokens: count,
      reasoning_tokens: count,
      requests: fc.constant(1),
      retries: fc.constant(0),
    }),
  })
  .map(({ reasoning, text, calls, finish, usage }) => ({ parts: [...reasoning, ...text, ...calls], finish, usage }));

const meaning = ({ parts, ...rest }: Answer): unknown => ({
  ...rest,
  parts: parts.map((part) => {
    if (part.type !== 'tool_call') return part;
    let input: unknown = part.input;
    try {
      const value: unknown = JSON.parse(part.input);
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        input = { object: JSON.stringify(value) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    return { ...part, input };
  }),
});

const openTape = (path: string) => openCassette(path, new AbortController().signal);

describe('a recording', () => {
  test('replays to the same answers without drift', async () => {
    const folder = await tempFolder();
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 3 }), async (answers) => {
        n += 1;
        const path = join(folder, `tape-${n}.jsonl`);
        const file = await openTape(path);
        const recording = createRecordingModel(saying(answers), {
          file,
          redact: (text) => text,
          onError: (error) => Promise.reject(error),
        });
        const drifts: Drift[] = [];
        const sent = answers.map((_, i) => requestOf([{ role: 'user', text: `question ${i}` }]));
        for (const request of sent) await ask(recording, request);
        await file.close();
        const replayed = await createReplayModel({
          cassette: path,
          model: null,
          onDrift: (drift) => void drifts.push(drift),
        });
        for (const [i, request] of sent.entries()) {
          const expected = answers[i];
          if (expected !== undefined)
            expect(meaning(answerOf(await ask(replayed, request)))).toEqual(meaning(expected));
        }
        expect(drifts).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('holds no secret, tells drift, and keeps a failure that is final', async () => {
    const path = join(await tempFolder(), 'tape.jsonl');
    const part = { type: 'tool_call' as const, id: 'c', name: 'shell', input: '{"command":"echo hush"}' };
    const file = await openTape(path);
    const recording = createRecordingModel(
      saying([{ parts: [{ type: 'text', text: 'hush' }, part], finish: 'tool_calls', usage: USAGE }]),
      {
        file,
        redact: (text) => text.replaceAll('hush', '[KEY]'),
        onError: (error) => Promise.reject(error),
      },
    );
    await ask(recording);
    await ask(recording);
    await file.close();
    expect(await readFile(path, 'utf8')).not.toContain('hush');

    const drifts: Drift[] = [];
    const replayed = await createReplayModel({
      cassette: path,
      model: null,
      onDrift: (drift) => void drifts.push(drift),
    });
    const other = requestOf([{ role: 'user', text: 'something else' }]);
    expect(answerOf(await ask(replayed, other)).parts).toEqual([
      { type: 'text', text: '[KEY]' },
      { ...part, input: '{"command":"echo [KEY]"}' },
    ]);
    expect(failureOf(await ask(replayed))).toMatchObject({ code: 'auth', httpStatus: 403 });
    const digestOf = createRequestDigest();
    expect(drifts).toEqual([{ index: 0, expected: digestOf(requestOf()), actual: digestOf(other) }]);
  });

  test('that cannot be written is a usage error at the start, and is told once later on', async () => {
    await expect(openTape('/nonexistent/tape')).rejects.toMatchObject({ name: 'UsageError', code: 'cassette' });
    const folder = await mkdtemp(join(tmpdir(), 'belay-cassette-'));
    const errors: unknown[] = [];
    const file = await openTape(join(folder, 'tape'));
    const empty: Answer = { parts: [], finish: 'stop', usage: USAGE };
    const recording = createRecordingModel(saying([empty, empty]), {
      file,
      redact: (text) => text,
      onError: (error) => void errors.push(error),
    });
    await rm(folder, { recursive: true });
    for (const _ of [1, 2]) expect((await ask(recording)).outcome.kind).toBe('answer');
    await file.close();
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('removed') })]);
  });
});
