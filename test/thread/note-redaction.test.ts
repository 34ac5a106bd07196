import { expect, it } from 'vitest';
import { createRedactor } from '../../src/events/index.ts';
import type { AnswerPart } from '../../src/model/index.ts';
import { createThread, openThread } from '../../src/thread/index.ts';
import { tempFolder } from '../events/temp-folder.ts';

const value = ['value', process.pid, 'of', 'a', 'key'].join('-');
const state = (signature: string) => ({ provider: { signature } });

async function noted(parts: readonly AnswerPart[]): Promise<readonly AnswerPart[]> {
  const stateDir = tempFolder();
  const redactor = createRedactor([{ name: 'KEY', value }]);
  const clock = { now: () => 0 };
  const thread = await createThread({
    stateDir,
    workspace: tempFolder(),
    goal: 'g',
    redactor,
    clock,
    ephemeral: false,
  });
  await thread.appendNote({
    kind: 'message',
    turn: 1,
    source: 'model',
    trusted: false,
    message: { role: 'assistant', parts },
  });
  await thread.close();
  for await (const line of (await openThread(stateDir, thread.id)).readNotes()) {
    if (line.kind === 'note' && line.note.kind === 'message' && line.note.message.role === 'assistant')
      return line.note.message.parts;
  }
  throw new Error('there is no note');
}

it('keeps what a provider signed to the byte', async () => {
  const parts: AnswerPart[] = [
    { type: 'reasoning', text: 'Hm.', state: state('c2ln') },
    { type: 'tool_call', id: 'call_1', name: 'shell', input: '{"command": "ls"}', state: state('item') },
  ];
  expect(await noted(parts)).toEqual(parts);
});

it.each<[string, AnswerPart]>([
  ['text', { type: 'reasoning', text: `The key is ${value}.`, state: state('c2ln') }],
  ['state', { type: 'reasoning', text: 'Hm.', state: state(`x${value}`) }],
])(
  'drops all signatures of an answer whose reasoning held a secret (%s): one that no longer fits is refused',
  async (_, part) => {
    const call: AnswerPart = {
      type: 'tool_call',
      id: 'call_1',
      name: 'shell',
      input: '{"command": "ls"}',
      state: state('item'),
    };
    const parts = await noted([part, call]);
    expect(JSON.stringify(parts)).not.toContain(value);
    expect(parts.map((one) => one.state)).toEqual([undefined, undefined]);
  },
);
