import type { SandboxPolicy } from '../policy/index.ts';
import type { Mount } from './sandbox.ts';

export interface ProbeOptions {
  policy: SandboxPolicy;
  /** The mounts of an agent's command; the first `write` one (else the first) says who owns the workspace. */
  mounts: readonly Mount[];
  workdir: string;
  /** A HOME like that of the commands. */
  home: string;
  /** The harness's own environment: PATH, HOME and the proxy on the way out are read from it, nothing is passed on. */
  env: Readonly<Record<string, string | undefined>>;
  /** Whether some command is to reach more than its own fence: hosts, ports of this machine, or services. */
  reachesOut?: boolean;
  signal: AbortSignal;
}

export function reachesOut({ policy, reachesOut: asked = false }: ProbeOptions): boolean {
  return asked || policy.network.mode === 'allow' || policy.services.length > 0;
}
