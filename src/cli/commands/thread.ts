import { UsageError } from '../../errors.ts';
import { oneLine } from '../../events/index.ts';
import type { Handler } from '../command.ts';

interface Action {
  /** What follows the action's name; those in brackets may be left out. */
  words: readonly string[];
  options: readonly string[];
  load(): Promise<Handler>;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: {
    words: [],
    options: ['workspace', 'json'],
    load: async () => (await import('./thread/list-action.ts')).listAction,
  },
  show: {
    words: ['THREAD'],
    options: ['request', 'json'],
    load: async () => (await import('./thread/show-action.ts')).showAction,
  },
  diff: {
    words: ['THREAD', '[A..B]'],
    options: ['json'],
    load: async () => (await import('./thread/diff-action.ts')).diffAction,
  },
  rollback: {
    words: ['THREAD'],
    options: ['to-turn', 'undo', 'force', 'json'],
    load: async () => (await import('./thread/rollback-action.ts')).rollbackAction,
  },
  fork: {
    words: ['THREAD'],
    options: ['from-turn', 'goal', 'workspace', 'json'],
    load: async () => (await import('./thread/fork-action.ts')).forkAction,
  },
  export: {
    words: ['THREAD', 'FILE'],
    options: [],
    load: async () => (await import('./thread/export-action.ts')).exportAction,
  },
  import: {
    words: ['FILE'],
    options: ['workspace', 'max-size'],
    load: async () => (await import('./thread/import-action.ts')).importAction,
  },
  prune: {
    words: [],
    options: ['older-than', 'max-size', 'dry-run', 'json'],
    load: async () => (await import('./thread/prune-action.ts')).pruneAction,
  },
};

function optionsOf({ options }: Action): string {
  return options.map((name) => ` [--${name}]`).join('');
}

/** `belay thread <action>`: one handler for each, which sees the words behind the action's name. */
export const threadAction: Handler = async (invocation) => {
  const { words, options } = invocation;
  const [name = '', ...rest] = words;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined)
    throw new UsageError(
      `belay thread: there is no action ${JSON.stringify(oneLine(name, 80))}; one of ${Object.keys(ACTIONS).join(', ')}`,
    );
  const usage = ['belay thread', name, ...action.words].join(' ');
  const needed = action.words.filter((word) => !word.startsWith('['));
  if (rest.length < needed.length)
    throw new UsageError(`belay thread ${name}: ${needed[rest.length]} is missing; usage: ${usage}`);
  if (rest.length > action.words.length)
    throw new UsageError(
      `belay thread ${name}: ${JSON.stringify(rest[action.words.length])} is one argument too many; usage: ${usage}`,
    );
  for (const [option, given] of options) {
    // The environment may name options of other commands.
    if (given.origin.startsWith('option') && !action.options.includes(option))
      throw new UsageError(`belay thread ${name} has no option --${option}; usage: ${usage}${optionsOf(action)}`);
  }
  const handler = await action.load();
  return handler({ ...invocation, words: rest });
};
