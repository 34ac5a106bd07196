/** The one table of options: it feeds the parser, `--help`, the environment (`BELAY_<OPTION>`) and the documentation. */

export interface OptionSpec {
  describe: string;
  /** `text` takes one value, `list` may be given several times, `flag` takes none. */
  kind: 'text' | 'list' | 'flag';
  /** What the value is, for `--help`. */
  value?: string;
  choices?: readonly string[];
  alias?: string;
  /** The value is a file that is read, or one that is written. */
  file?: 'in' | 'out';
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

const WORKSPACE = {
  workspace: { kind: 'text', value: 'DIR', describe: 'the folder under work (default: the current one)' },
  policy: {
    kind: 'text',
    value: 'F',
    file: 'in',
    describe: 'policy file (default: belay.yml in the workspace root, else the built-in policy)',
  },
} as const satisfies OptionTable;

const TRUST = {
  'trust-ref': {
    kind: 'text',
    value: 'REF',
    describe: 'commit that policy, instructions and pristine tests come from',
  },
  'policy-floor': {
    kind: 'text',
    value: 'F',
    file: 'in',
    describe: "an organisation's policy, which the repository's can only tighten",
  },
} as const satisfies OptionTable;

const STREAMS = {
  format: {
    kind: 'text',
    value: 'FORMAT',
    choices: ['jsonl', 'text', 'quiet'],
    describe: 'what stdout carries (default: text on a terminal, else jsonl)',
  },
  events: { kind: 'text', value: 'F', file: 'out', describe: 'also write the event stream to this file' },
  result: { kind: 'text', value: 'F', file: 'out', describe: 'write the result as JSON' },
} as const satisfies OptionTable;

const MODEL = {
  model: { kind: 'text', value: 'PROVIDER/NAME', describe: "model to use instead of the policy's" },
  replay: { kind: 'text', value: 'CASSETTE', file: 'in', describe: 'answer from a cassette instead of a model' },
  record: { kind: 'text', value: 'CASSETTE', file: 'out', describe: 'write the model answers to a cassette' },
} as const satisfies OptionTable;

const ENDS = {
  patch: { kind: 'text', value: 'F', file: 'out', describe: 'write the patch, accepted or rejected' },
  message: { kind: 'text', value: 'F', file: 'out', describe: 'write the final message' },
} as const satisfies OptionTable;

export const RUN_OPTIONS = {
  'goal-file': { kind: 'text', value: 'F', file: 'in', describe: 'read the goal from a file' },
  ...WORKSPACE,
  context: {
    kind: 'list',
    value: 'FILE',
    file: 'in',
    describe: 'untrusted reference material, quoted as data (repeatable, globs)',
  },
  ...MODEL,
  'output-schema': { kind: 'text', value: 'F', file: 'in', describe: 'JSON Schema that the final answer must satisfy' },
  ...STREAMS,
  ...ENDS,
  ...TRUST,
  ephemeral: { kind: 'flag', describe: 'keep no thread on disk' },
  turns: { kind: 'text', value: 'N', describe: 'tighten limits.turns' },
  'wall-time': { kind: 'text', value: 'D', describe: 'tighten limits.wall_time' },
  tokens: { kind: 'text', value: 'N', describe: 'tighten limits.tokens' },
  'cost-usd': { kind: 'text', value: 'N', describe: 'tighten limits.cost_usd' },
  attempts: { kind: 'text', value: 'N', describe: 'tighten limits.attempts' },
} as const satisfies OptionTable;

export const RESUME_OPTIONS = {
  approve: { kind: 'text', value: 'ID', describe: 'run the action that waits for this approval' },
  deny: { kind: 'text', value: 'ID', describe: 'refuse that action, and tell the agent' },
  workspace: {
    kind: 'text',
    value: 'DIR',
    describe: "the folder under work (default: the thread's, else the current one)",
  },
  policy: { kind: 'text', value: 'F', file: 'in', describe: "policy file (default: the thread's)" },
  ...MODEL,
  ...STREAMS,
  ...ENDS,
  ...TRUST,
  turns: { kind: 'text', value: 'N', describe: "new limits.turns, up to the policy's" },
  'wall-time': { kind: 'text', value: 'D', describe: "new limits.wall_time, up to the policy's" },
  tokens: { kind: 'text', value: 'N', describe: "new limits.tokens, up to the policy's" },
  'cost-usd': { kind: 'text', value: 'N', describe: "new limits.cost_usd, up to the policy's" },
  attempts: { kind: 'text', value: 'N', describe: "new limits.attempts, up to the policy's" },
} as const satisfies OptionTable;

export const VERIFY_OPTIONS = {
  ...WORKSPACE,
  patch: { kind: 'text', value: 'F', file: 'in', describe: 're-verify this patch in a fresh tree of --base' },
  base: { kind: 'text', value: 'SHA', describe: 'commit that the patch is for' },
  expect: {
    kind: 'text',
    value: 'RESULT',
    file: 'in',
    describe: 'result file whose patch and tree digests must match',
  },
  ...STREAMS,
  ...TRUST,
} as const satisfies OptionTable;

export const POLICY_OPTIONS = {
  ...WORKSPACE,
  ...TRUST,
  json: { kind: 'flag', describe: 'print JSON' },
} as const satisfies OptionTable;

export const REPLAY_OPTIONS = {
  context: RUN_OPTIONS.context,
  'output-schema': RUN_OPTIONS['output-schema'],
  ...TRUST,
  ...WORKSPACE,
  format: STREAMS.format,
  events: STREAMS.events,
  'fail-on': {
    kind: 'text',
    value: 'WHAT',
    choices: ['drift', 'never'],
    describe: 'exit 16 at a drift (default), or only tell it',
  },
  drift: { kind: 'text', value: 'F', file: 'out', describe: 'write the first drift as JSON, null when there is none' },
} as const satisfies OptionTable;
export const THREAD_OPTIONS = {
  workspace: {
    kind: 'text',
    value: 'DIR',
    describe: 'list: threads of this folder; fork, import: the folder to work in',
  },
  request: { kind: 'text', value: 'N', describe: 'show: where each piece of the request of turn N came from' },
  'to-turn': { kind: 'text', value: 'N', describe: 'rollback: the turn to go to (0 or base: the start; final)' },
  undo: { kind: 'flag', describe: 'rollback: take the last rollback back' },
  force: { kind: 'flag', describe: 'rollback: also where the workspace has changes that no turn made' },
  'from-turn': { kind: 'text', value: 'N', describe: 'fork: the last turn that the new thread takes over' },
  goal: { kind: 'text', value: 'TEXT', describe: 'fork: a goal instead of the first one' },
  'older-than': { kind: 'text', value: 'D', describe: 'prune: threads created longer ago, such as 30d' },
  'max-size': {
    kind: 'text',
    value: 'SIZE',
    describe: 'prune: the oldest go until the others fit, such as 2GiB; import: most bytes taken',
  },
  'dry-run': { kind: 'flag', describe: 'prune: say what would go' },
  json: { kind: 'flag', describe: 'print JSON' },
} as const satisfies OptionTable;
export const DOCTOR_OPTIONS = {
  ...WORKSPACE,
  json: { kind: 'flag', describe: 'print JSON' },
} as const satisfies OptionTable;
export const INIT_OPTIONS = {
  workspace: WORKSPACE.workspace,
  force: { kind: 'flag', describe: 'replace an existing belay.yml' },
} as const satisfies OptionTable;
export const REPORT_OPTIONS = {
  format: {
    kind: 'text',
    value: 'FORMAT',
    choices: ['html', 'markdown', 'junit', 'sarif', 'attestation'],
    describe: 'what to write (default: by the name of the file, else markdown)',
  },
  patch: {
    kind: 'text',
    value: 'F',
    file: 'in',
    describe: 'patch of the run, for the diffs of the HTML (default: where the run wrote it)',
  },
  compare: { kind: 'text', value: 'A', file: 'in', describe: 'batch to compare with: belay report --compare A B' },
  output: { kind: 'text', value: 'FILE', file: 'out', describe: 'write to this file (default: stdout)', alias: 'o' },
} as const satisfies OptionTable;
export const NO_OPTIONS = {} as const satisfies OptionTable;

/** The environment variable of an option: `--wall-time` → `BELAY_WALL_TIME`. */
export function environmentName(option: string): string {
  return `BELAY_${option.toUpperCase().replaceAll('-', '_')}`;
}
