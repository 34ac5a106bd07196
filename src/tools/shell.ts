import * as z from 'zod';
import { resolvePath } from './safe-path.ts';
import type { Tool, ToolOutcome, ToolPorts } from './tool.ts';

const Input = z.strictObject({
  command: z.string().min(1),
  timeout_ms: z.int().min(1).optional(),
  workdir: z.string().optional(),
});
type Input = z.infer<typeof Input>;

type Workdir = { kind: 'found'; absolute: string } | { kind: 'refused'; reason: string; denied: boolean };

async function locateWorkdir(ports: ToolPorts, written: string | undefined): Promise<Workdir> {
  if (written === undefined) return { kind: 'found', absolute: ports.workspace };
  const resolution = await resolvePath(ports, written, 'read');
  if (resolution.kind === 'refused') return resolution;
  const { absolute, stat } = resolution.path;
  if (stat?.isDirectory() === true) return { kind: 'found', absolute };
  return { kind: 'refused', reason: `workdir ${written}: there is no such folder`, denied: false };
}

/** Of a command's denied connections, so many are told to the model. */
const MOST_DENIED = 5;

/** Nothing here may vary between two runs of the same command: requests are compared in a replay. */
export const shell: Tool<Input> = {
  name: 'shell',
  description:
    'Run a bash script in the sandbox and wait for it; there is no terminal and no stdin. Long output is cut in the middle.',
  input: Input,
  readOnly: false,
  itemType: 'command_execution',
  action: (input) => ({ kind: 'command', command: input.command }),
  describe: (input) => ({ type: 'command_execution', command: input.command, exitCode: null, reason: null }),
  async execute(input, { ports, output, signal }) {
    let denied: readonly string[] = [];
    const ended = (status: ToolOutcome['status'], exitCode: number | null, reason: string | null): ToolOutcome => ({
      status,
      note: [reason ?? `exit code ${exitCode}`, ...denied].join('\n'),
      detail: { type: 'command_execution', command: input.command, exitCode, reason },
    });
    const workdir = await locateWorkdir(ports, input.workdir);
    if (workdir.kind === 'refused') return ended(workdir.denied ? 'declined' : 'failed', null, workdir.reason);

    const timeoutMs = Math.min(input.timeout_ms ?? Number.POSITIVE_INFINITY, ports.policy.limits.commandTimeMs);
    let isSilent = true;
    const onOutput = (chunk: Buffer): Promise<void> | void => {
      isSilent = false;
      return output.write(chunk);
    };
    const command = { script: input.command, workdir: workdir.absolute, timeoutMs, onOutput };
    const end = await ports.runCommand(command, signal);
    denied = (end.denied ?? []).slice(0, MOST_DENIED).map((words) => `denied by the policy: ${words}`);
    switch (end.reason) {
      case 'exited': {
        const outcome = ended(end.exitCode === 0 ? 'completed' : 'failed', end.exitCode, end.detail);
        return isSilent ? { ...outcome, note: outcome.note.replace(/^exit code \d+/, '$&, no output') } : outcome;
      }
      case 'timed_out':
        return ended('timed_out', end.exitCode, `timed out after ${timeoutMs / 1000} s and was killed`);
      case 'cancelled':
        return ended('cancelled', end.exitCode, 'cancelled: the run is ending');
      case 'failed_to_start':
        return ended('failed', end.exitCode, `could not be started: ${end.detail ?? 'unknown reason'}`);
      case 'killed':
        return ended('failed', end.exitCode, `killed: ${end.detail ?? 'unknown reason'}`);
    }
  },
};
