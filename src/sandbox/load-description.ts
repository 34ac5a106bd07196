import type { describeSandbox } from './describe-sandbox.ts';

/** `describeSandbox`, for `belay doctor`: no run reads it. */
export async function loadDescription(): Promise<typeof describeSandbox> {
  return (await import('./describe-sandbox.ts')).describeSandbox;
}
