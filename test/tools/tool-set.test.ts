import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import type { Policy } from '../../src/policy/index.ts';
import { createTools, type EditFamily, parseCall, type Tool, toolSpecs } from '../../src/tools/index.ts';

type Choice = Partial<Policy['tools']> & { mode?: Policy['sandbox']['mode'] };

function toolsFor({ mode = 'workspace-write', ...tools }: Choice = {}, family: EditFamily = 'apply_patch') {
  const sandbox = { mode } as unknown as Policy['sandbox'];
  return createTools({ tools: { edit: 'auto', enable: [], disable: [], ...tools }, sandbox }, family);
}
const namesOf = (tools: readonly Tool[]): string => tools.map((tool) => tool.name).join(' ');

const READ = 'shell read_file list_files search';
const END = 'update_plan read_output finish';

describe('createTools', () => {
  test.each([
    ['the family of the model', {}, 'apply_patch', `${READ} apply_patch ${END}`],
    ['the other family', {}, 'replace_text', `${READ} replace_text write_file ${END}`],
    ['what the policy says', { edit: 'replace_text' }, 'apply_patch', `${READ} replace_text write_file ${END}`],
    ['one more', { enable: ['write_file'] }, 'apply_patch', `${READ} apply_patch write_file ${END}`],
    ['some less', { disable: ['shell', 'search'] }, 'apply_patch', `read_file list_files apply_patch ${END}`],
    [
      'less rather than more',
      { enable: ['write_file'], disable: ['write_file'] },
      'apply_patch',
      `${READ} apply_patch ${END}`,
    ],
    ['no edits in a read-only sandbox', { mode: 'read-only', enable: ['write_file'] }, 'apply_patch', `${READ} ${END}`],
  ] as const)('gives %s', (_, choice, family, expected) => {
    expect(namesOf(toolsFor(choice, family))).toBe(expected);
  });

  test.each([
    [{ disable: ['shel'] }, 'tools.disable: there is no tool "shel"; did you mean shell?'],
    [{ enable: ['browser_automation'] }, 'tools.enable: there is no tool "browser_automation"; known are shell, '],
    [{ disable: ['finish'] }, 'tools.disable: finish ends the agent’s work and cannot be disabled'],
  ])('refuses %j', (choice, message) => {
    expect(() => toolsFor(choice)).toThrow(UsageError);
    expect(() => toolsFor(choice)).toThrow(message);
  });
});

describe('toolSpecs', () => {
  test.each(['apply_patch', 'replace_text'] as const)(
    'of the family %s cost few tokens and are always the same bytes',
    (family) => {
      const text = JSON.stringify(toolSpecs(toolsFor({}, family)));
      expect(text.length).toBeLessThan(3400);
      expect(JSON.stringify(toolSpecs(toolsFor({}, family)))).toBe(text);
    },
  );

  test('say what is needed and nothing else', () => {
    const [spec] = toolSpecs(toolsFor());
    expect(spec).toEqual({
      name: 'shell',
      description: expect.stringContaining('sandbox'),
      inputSchema: {
        type: 'object',
        properties: { command: { type: 'string' }, timeout_ms: { type: 'integer' }, workdir: { type: 'string' } },
        required: ['command'],
      },
    });
  });
});

describe('parseCall', () => {
  const tools = toolsFor();
  const parsed = (name: string, input: string) => {
    const call = parseCall(tools, name, input);
    return call.kind === 'call' ? { tool: call.tool.name, input: call.input } : call.reason;
  };

  test('gives the tool and its valid input', () => {
    expect(parsed('shell', '{"command": "ls"}')).toEqual({ tool: 'shell', input: { command: 'ls' } });
  });

  test('takes null for a key that may be left out', () => {
    expect(parsed('read_file', '{"path": "a", "offset": null}')).toEqual({ tool: 'read_file', input: { path: 'a' } });
  });

  test.each([
    ['make_coffee', '{}', `There is no tool "make_coffee". The tools are: ${namesOf(tools).replaceAll(' ', ', ')}.`],
    ['toString', '{}', 'There is no tool "toString"'],
    [
      'shell',
      '{"command": "touch cut.txt',
      /^The input of shell is not valid JSON, the call did not run: .*position 26/u,
    ],
    ['shell', '', 'The input of shell is not valid, the call did not run: command: '],
    ['shell', '[]', 'The input of shell is not valid'],
    ['shell', 'null', 'The input of shell is not valid'],
    ['shell', '"ls"', 'The input of shell is not valid'],
    ['shell', '{"command": 7}', 'command: Invalid input: expected string, received number'],
    ['shell', '{"command": null}', 'command: Invalid input: expected string, received undefined'],
    ['shell', '{"command": "ls", "cwd": "/"}', 'Unrecognized key: "cwd"'],
    ['read_file', '{"path": ["a"], "offset": 0}', /path: .*; offset: /u],
    ['update_plan', '{"steps": [{"text": "a", "status": "doing"}]}', 'steps.0.status: '],
  ])('rejects %s with %s', (name, input, reason) => {
    expect(parsed(name, input)).toEqual(
      reason instanceof RegExp ? expect.stringMatching(reason) : expect.stringContaining(reason),
    );
  });

  test('answers briefly to a very long input', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`key${n}`, n]));
    for (const input of [JSON.stringify(many), `{"command": "${'x'.repeat(2_000_000)}`]) {
      expect(String(parsed('shell', input)).length).toBeLessThan(1100);
    }
  });
});

describe('finish and update_plan', () => {
  const detailOf = (name: string, input: unknown) => {
    const call = parseCall(toolsFor(), name, JSON.stringify(input));
    return call.kind === 'call' ? call.tool.describe(call.input) : call.reason;
  };

  test('finish carries what the agent said', () => {
    expect(detailOf('finish', { status: 'done', summary: 's', risks: ['r'], output: { answer: 42 } })).toEqual({
      type: 'finish',
      finish: { status: 'done', summary: 's', risks: ['r'], question: null, output: { answer: 42 } },
    });
    expect(detailOf('finish', { status: 'needs_input', summary: 'which one?' })).toEqual({
      type: 'finish',
      finish: { status: 'needs_input', summary: 'which one?', risks: [], question: 'which one?', output: null },
    });
  });

  test('a plan tells what is completed', () => {
    const steps = [
      { text: 'a', status: 'completed' },
      { text: 'b', status: 'in_progress' },
    ];
    expect(detailOf('update_plan', { steps })).toEqual({
      type: 'todo_list',
      items: [
        { text: 'a', completed: true },
        { text: 'b', completed: false },
      ],
    });
  });
});
