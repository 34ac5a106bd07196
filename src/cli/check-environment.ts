import { UsageError } from '../errors.ts';
import { COMMANDS } from './commands/index.ts';
import { environmentName } from './options.ts';

const PREFIX = 'BELAY_';
/** Read elsewhere: the state folder, a folder of provider packages; and the mark of commands, where belay runs inside belay. */
const OTHERS = ['BELAY_HOME', 'BELAY_PROVIDERS', 'BELAY_COMMAND_ID'];
/** Shorter names are near to too much: BELAY_PATH and BELAY_TOKEN may well be the pipeline's own. */
const TELLING_LETTERS = 6;

/**
 * Variables that look like options and are none: a floor that is misspelt must not be a floor that does not hold. Throws UsageError
 * where one is plainly a misspelt option; else returns a sentence that names them, since they may be somebody's own; null for none.
 */
export async function checkEnvironment(env: NodeJS.ProcessEnv): Promise<string | null> {
  const known = new Set([...OTHERS, ...COMMANDS.flatMap(({ options }) => Object.keys(options).map(environmentName))]);
  const strangers = Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name) && env[name] !== '')
    .sort();
  if (strangers.length === 0) return null;
  const { nearestName } = await import('../policy/index.ts');
  const options = [...known].map((name) => name.slice(PREFIX.length));
  const shown = strangers.map((stranger) => {
    const name = stranger.slice(PREFIX.length);
    const near = nearestName(name, options);
    if (near === null) return stranger;
    if (name.length >= TELLING_LETTERS)
      throw new UsageError(`${stranger} is no option of belay; did you mean ${PREFIX}${near}? Rename it, or unset it`);
    return `${stranger} (did you mean ${PREFIX}${near}?)`;
  });
  return `no option of belay, and without effect: ${shown.join(', ')}`;
}
