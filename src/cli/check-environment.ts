import { UsageError } from '../errors.ts';
import { COMMANDS } from './commands/index.ts';
import { environmentName } from './options.ts';

const PREFIX = 'BELAY_';
/** Read elsewhere: the state folder, a folder of provider packages; and the mark of commands, where belay runs inside belay. */
const OTHERS = ['BELAY_HOME', 'BELAY_PROVIDERS', 'BELAY_COMMAND_ID'];
/** Shorter names are near to too much: BELAY_PATH and BELAY_TOKEN may well be the pipeline's own. */
const TELLING_LETTERS = 6;

export interface CheckedEnvironment {
  /** A variable that is plainly a misspelt option: a floor that is misspelt must not be a floor that does not hold. */
  fault: UsageError | null;
  /** Names others that look like options and are none, since they may be somebody's own. */
  note: string | null;
}

export async function checkEnvironment(env: NodeJS.ProcessEnv): Promise<CheckedEnvironment> {
  const known = new Set([...OTHERS, ...COMMANDS.flatMap(({ options }) => Object.keys(options).map(environmentName))]);
  const strangers = Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name) && env[name] !== '')
    .sort();
  if (strangers.length === 0) return { fault: null, note: null };
  const { nearestName } = await import('../policy/index.ts');
  const options = [...known].map((name) => name.slice(PREFIX.length));
  const shown: string[] = [];
  for (const stranger of strangers) {
    const name = stranger.slice(PREFIX.length);
    const near = nearestName(name, options);
    if (near !== null && name.length >= TELLING_LETTERS) {
      const reason = `${stranger} is no option of belay; did you mean ${PREFIX}${near}? Rename it, or unset it`;
      return { fault: new UsageError(reason), note: null };
    }
    shown.push(near === null ? stranger : `${stranger} (did you mean ${PREFIX}${near}?)`);
  }
  return { fault: null, note: `no option of belay, and without effect: ${shown.join(', ')}` };
}
