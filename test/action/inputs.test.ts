import { describe, expect, it } from 'vitest';
import { inputVariable } from '../../src/cli/github/action-inputs.ts';
import { decideExitCode, parseFailOn } from '../../src/cli/github/fail-on.ts';
import { readInputs, renderArguments } from '../../src/cli/github/read-inputs.ts';
import { UsageError } from '../../src/errors.ts';

const given = (inputs: Record<string, string>) =>
  readInputs(Object.fromEntries(Object.entries(inputs).map(([name, text]) => [inputVariable(name), text])));

describe('inputs of the action', () => {
  it('become arguments: empty ones are not given, a list has one value a line, a dash in front stays in its value', () => {
    const { goal, options } = given({
      goal: '--help\n',
      turns: '5',
      model: '',
      context: 'a.txt\n\n  logs/*.txt  \n',
      ephemeral: 'true',
      message: '-x',
    });
    expect({ goal, args: renderArguments(options) }).toEqual({
      goal: '--help\n',
      args: ['--context=a.txt', '--context=logs/*.txt', '--format=text', '--message=-x', '--ephemeral', '--turns=5'],
    });
  });

  it.each([
    [{}, /goal or goal-file/],
    [{ goal: ' \n' }, /goal or goal-file/],
    [{ goal: 'x', 'goal-file': 'y' }, /not both/],
    [{ goal: 'x', ephemeral: 'maybe' }, /ephemeral: "maybe" is neither true nor false/],
    [{ goal: 'x', 'fail-on': 'verfied' }, /fail-on: "verfied" is none of/],
  ])('are refused: %j', (inputs, message) => {
    expect(() => given(inputs)).toThrow(UsageError);
    expect(() => given(inputs)).toThrow(message);
  });
});

describe('fail-on', () => {
  it.each([
    ['not-verified', 'verified', 0, 0],
    ['', 'unverified', 10, 10],
    ['error', 'unverified', 10, 0],
    ['error', 'limit_reached', 11, 0],
    ['error', 'model_failed', 20, 20],
    ['error', 'sandbox_unavailable', 21, 21],
    ['error', 'interrupted', 143, 143],
    ['never', 'internal_error', 1, 0],
    ['policy_violation, gave_up', 'gave_up', 14, 14],
    ['policy_violation', 'unverified', 10, 0],
    ['unchecked', 'unchecked', 0, 1],
  ] as const)('%j: %s (%i) ends the step with %i', (text, outcome, exitCode, code) => {
    expect(decideExitCode(parseFailOn(text), { outcome, exitCode })).toBe(code);
  });
});
