import { UsageError } from '../../errors.ts';
import { type OptionTable, RUN_OPTIONS } from '../options.ts';
import { ACTION_INPUTS, inputVariable, type OwnInput } from './action-inputs.ts';
import { type FailOn, parseFailOn } from './fail-on.ts';

export interface ActionRequest {
  /** null: `goal-file` has it. */
  goal: string | null;
  /** Options of `belay run` as given, by name; nothing that is empty. */
  options: ReadonlyMap<string, readonly string[]>;
  failOn: FailOn;
  forksAllowed: boolean;
}

/** The inputs of the action from the environment; an empty one is one that was not given. */
export function readInputs(env: NodeJS.ProcessEnv): ActionRequest {
  const own = (name: OwnInput) => env[inputVariable(name)] ?? ACTION_INPUTS[name]?.default ?? '';
  const options = new Map<string, readonly string[]>();
  const table: OptionTable = RUN_OPTIONS;
  for (const [name, { kind }] of Object.entries(table)) {
    const text = env[inputVariable(name)] ?? ACTION_INPUTS[name]?.default ?? '';
    const lines = kind === 'list' ? text.split('\n') : [text];
    const values = lines.map((line) => line.trim()).filter((line) => line !== '');
    if (kind === 'flag' && !readFlag(name, text)) continue;
    if (values.length > 0) options.set(name, values);
  }
  const goal = own('goal');
  if (goal.trim() === '' && !options.has('goal-file')) throw new UsageError('give the input goal or goal-file');
  if (goal.trim() !== '' && options.has('goal-file'))
    throw new UsageError('give the input goal or goal-file, not both');
  return {
    goal: goal.trim() === '' ? null : goal,
    options,
    failOn: parseFailOn(own('fail-on')),
    forksAllowed: readFlag('allow-forks', own('allow-forks')),
  };
}

function readFlag(name: string, text: string): boolean {
  const word = text.trim().toLowerCase();
  if (word === 'true') return true;
  if (word === 'false' || word === '') return false;
  throw new UsageError(`input ${name}: ${JSON.stringify(text)} is neither true nor false`);
}

/** The options as arguments of the command line. A value that begins with a dash stays a value. */
export function renderArguments(options: ActionRequest['options']): string[] {
  const table: OptionTable = RUN_OPTIONS;
  return [...options].flatMap(([name, values]) =>
    table[name]?.kind === 'flag' ? [`--${name}`] : values.map((value) => `--${name}=${value}`),
  );
}
