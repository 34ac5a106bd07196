import type { decide } from './decide.ts';

/** `decide`, with the shell's parser that it needs: read (150 KB) once somebody has a command to judge, and not at every start. */
export async function loadDecide(): Promise<typeof decide> {
  return (await import('./decide.ts')).decide;
}

/** What `belay policy explain` tells of a command. */
export function loadExplanations(): Promise<typeof import('./explain-command.ts')> {
  return import('./explain-command.ts');
}
