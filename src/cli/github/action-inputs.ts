import { type OptionSpec, RUN_OPTIONS } from '../options.ts';

export interface ActionInput {
  describe: string;
  default: string;
}

/** Inputs that are no options of `belay run`. */
const OWN = {
  goal: { describe: 'the goal, in words; or goal-file', default: '' },
  'fail-on': {
    describe:
      'when the step fails: not-verified (every exit code but 0), error (belay could not do its work), never, or outcomes with commas between them',
    default: 'not-verified',
  },
  'allow-forks': {
    describe:
      'run on code from a fork in an event that carries secrets (pull_request_target, workflow_run, issue_comment)',
    default: 'false',
  },
  'artifact-name': {
    describe:
      'name of the artifact with result, patch, events, report and thread; one name a job of a matrix; empty: none',
    default: 'belay',
  },
  'setup-only': { describe: 'set belay and its sandbox up for later steps, and run nothing', default: 'false' },
  'set-up-sandbox': {
    describe: 'install bubblewrap and allow it user namespaces where that is missing',
    default: 'true',
  },
  'node-version': { describe: 'Node to set up where the job has none that belay runs on', default: '24' },
} as const satisfies Readonly<Record<string, ActionInput>>;

/** The log of a job is read by people. */
const OTHER_DEFAULTS: Readonly<Record<string, string>> = { format: 'text' };
const OTHER_WORDS: Readonly<Record<string, string>> = {
  format: 'what the log shows: text, jsonl or quiet',
  'trust-ref': 'commit that policy, instructions and pristine tests come from (default in a pull request: its base)',
};

/** Every input of the action: its own, and the options of `belay run`. */
export const ACTION_INPUTS: Readonly<Record<string, ActionInput>> = {
  ...OWN,
  ...Object.fromEntries(Object.entries(RUN_OPTIONS).map(([name, spec]) => [name, inputOf(name, spec)])),
};

export type OwnInput = keyof typeof OWN;

function inputOf(name: string, { kind, describe }: OptionSpec): ActionInput {
  const words = OTHER_WORDS[name] ?? describe.replace(' (repeatable, globs)', ' (globs)');
  return {
    describe: kind === 'list' ? `${words}, one a line` : words,
    default: OTHER_DEFAULTS[name] ?? (kind === 'flag' ? 'false' : ''),
  };
}

/** The environment variable that carries an input to the script: `goal-file` → `INPUT_GOAL_FILE`. */
export function inputVariable(name: string): string {
  return `INPUT_${name.toUpperCase().replaceAll('-', '_')}`;
}
