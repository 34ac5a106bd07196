/** Where a text in the context came from; only the goal, what the user put in and belay's own words are trusted: evidence quotes output. */
export type Source = 'goal' | 'workspace' | 'nudge' | 'verification' | 'steer' | 'tool_result' | 'model';

export function isTrusted(source: Source): boolean {
  return source !== 'tool_result' && source !== 'model' && source !== 'verification';
}
