import type { ProbeOptions } from './probe-options.ts';
import type { Sandbox, SandboxedCommand } from './sandbox.ts';

const PROBE_TIME_MS = 10_000;

export type ProbeAnswer = { kind: 'answered'; output: string } | { kind: 'failed'; reason: string };

/** Runs a probe's script as a command of the agent. */
export async function runProbe(
  sandbox: Sandbox,
  { mounts, workdir, home, signal }: ProbeOptions,
  command: Pick<SandboxedCommand, 'script' | 'env' | 'network'>,
): Promise<ProbeAnswer> {
  const chunks: Buffer[] = [];
  const end = await sandbox.run(
    {
      ...command,
      workdir,
      mounts,
      home,
      timeoutMs: PROBE_TIME_MS,
      onOutput: (chunk) => void chunks.push(Buffer.from(chunk)),
    },
    signal,
  );
  return end.reason === 'exited'
    ? { kind: 'answered', output: Buffer.concat(chunks).toString('utf8') }
    : { kind: 'failed', reason: end.detail ?? 'The sandbox could not be set up.' };
}
