import { BATCH_OPTIONS } from '../batch-options.ts';
import type { Command } from '../command.ts';
import {
  DOCTOR_OPTIONS,
  INIT_OPTIONS,
  NO_OPTIONS,
  POLICY_OPTIONS,
  REPLAY_OPTIONS,
  REPORT_OPTIONS,
  RESUME_OPTIONS,
  RUN_OPTIONS,
  THREAD_OPTIONS,
  VERIFY_OPTIONS,
} from '../options.ts';

export const COMMANDS: readonly Command[] = [
  {
    usage: 'run [goal]',
    describe: 'one goal to one verdict',
    positionals: { goal: { describe: 'the goal, or - to read it from stdin' } },
    options: RUN_OPTIONS,
    epilogue: 'Every option also reads BELAY_<OPTION> from the environment. Limits can only be tightened.',
    hasStream: true,
    load: async () => (await import('./run.ts')).runGoal,
  },
  {
    usage: 'resume <thread>',
    describe: 'go on with a suspended, interrupted or exhausted thread',
    positionals: { thread: { describe: 'id of the thread' } },
    options: RESUME_OPTIONS,
    epilogue: 'What the thread used before counts. Exit codes are those of belay run.',
    hasStream: true,
    load: async () => (await import('./resume.ts')).resumeRun,
  },
  {
    usage: 'verify',
    describe: "run the policy's checks, no model",
    positionals: {},
    options: VERIFY_OPTIONS,
    hasStream: true,
    load: async () => (await import('./verify.ts')).verifyWorkspace,
  },
  {
    usage: 'batch [words..]',
    describe: 'many goals, each in its own worktree; batch plan prints a CI matrix, batch merge joins shards',
    positionals: { words: { describe: 'JOBS.jsonl | plan JOBS.jsonl | merge FILE…' } },
    options: BATCH_OPTIONS,
    wordsAreFiles: true,
    epilogue:
      'A job is one JSON line: {"id", "goal" or "goal_file", "policy", "ref", "context", "limits"}. See docs/batch.md.',
    hasStream: true,
    load: async () => (await import('./batch.ts')).batchAction,
  },
  {
    // Not `events`: the option of that name writes a file.
    usage: 'replay <recording>',
    describe: 're-run with the recorded model answers; reports the first drift',
    positionals: { recording: { describe: 'event stream of a run, or the id of a thread' } },
    options: REPLAY_OPTIONS,
    wordsAreFiles: true,
    hasStream: true,
    load: async () => (await import('./replay.ts')).replayEvents,
  },
  {
    usage: 'report <events>',
    describe: 'what people and other tools read of a run',
    positionals: { events: { describe: 'event stream of a run or a batch, the id of a thread, or - for stdin' } },
    options: REPORT_OPTIONS,
    wordsAreFiles: true,
    load: async () => (await import('./report.ts')).reportRun,
  },
  {
    usage: 'thread <action> [thread] [range]',
    describe: 'the timeline: list, show, diff, rollback, fork, export, import, prune',
    positionals: {
      action: { describe: 'list | show | diff | rollback | fork | export | import | prune' },
      thread: { describe: 'id of the thread (import: the file)' },
      range: { describe: 'diff: A..B, each base, a turn or final (default: base..final); export: the file' },
    },
    options: THREAD_OPTIONS,
    load: async () => (await import('./thread.ts')).threadAction,
  },
  {
    usage: 'audit <events>',
    describe: 'check an event stream or a thread: schema, hash chain, one terminal event, outputs',
    positionals: { events: { describe: 'event stream, the id of a thread, or - for stdin' } },
    options: NO_OPTIONS,
    load: async () => (await import('./audit.ts')).auditStream,
  },
  {
    usage: 'policy <action> [subject]',
    describe: 'check, show or explain a policy',
    positionals: {
      action: { describe: 'check | show | explain' },
      subject: { describe: 'policy file (check), command or HOST:PORT (explain)' },
    },
    options: POLICY_OPTIONS,
    load: async () => (await import('./policy.ts')).policyAction,
  },
  {
    usage: 'schema <name>',
    describe: 'print a JSON Schema: policy, events, result or job',
    positionals: { name: { describe: 'policy | events | result | job' } },
    options: NO_OPTIONS,
    load: async () => (await import('./schema.ts')).printSchema,
  },
  {
    usage: 'doctor',
    describe: 'what works here, and how to fix what does not',
    positionals: {},
    options: DOCTOR_OPTIONS,
    load: async () => (await import('./doctor.ts')).examineMachine,
  },
  {
    usage: 'init',
    describe: 'write a starter belay.yml',
    positionals: {},
    options: INIT_OPTIONS,
    load: async () => (await import('./init.ts')).initPolicy,
  },
];

/** Commands of the contract that this version does not have. */
export const LATER: ReadonlySet<string> = new Set(['serve']);
