import * as z from 'zod';
import { hostPortFault } from './host-port.ts';
import {
  count,
  environmentRules,
  list,
  networkAccess,
  oneOf,
  pattern,
  section,
  size,
  text,
} from './policy-file-fields.ts';

const hostAndPort = text('host:port, like 127.0.0.1:5432', 300).superRefine((value, context) => {
  const fault = hostPortFault(value);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

export const sandboxSection = section({
  mode: oneOf(['read-only', 'workspace-write', 'off'])
    .optional()
    .describe("What the agent's commands may write. off: no fence at all. Absent: workspace-write."),
  require: oneOf(['any', 'bubblewrap', 'landlock', 'seatbelt', 'external'])
    .optional()
    .describe('The fence that must work here, else nothing runs. Absent: any.'),
  network: networkAccess().optional().describe("Network of the agent's commands and of checks. Absent: none."),
  env: environmentRules({ pass: 'LANG and TZ', set: 'CI=1' })
    .optional()
    .describe('Environment inside the sandbox, beside PATH, HOME and TMPDIR, which belay sets.'),
  readable: list(pattern('an absolute path or one that starts with ~/', /^(?:\/|~(?:\/|$))/), 'paths')
    .optional()
    .describe(
      'Paths outside the repository that may be read too; `~/x` is found in the private HOME as well. Absent or empty: the system alone. Filled: these too.',
    ),
  services: list(hostAndPort, 'host:port')
    .optional()
    .describe('Ports of the host that are reachable from inside. Absent or empty: none. Filled: these.'),
  home: z.literal('private', { error: 'expected private' }).optional().describe('One HOME a run. Absent: private.'),
  memory: size(16 * 2 ** 20, 2 ** 44)
    .optional()
    .describe('Memory of one command with its children. Absent: 4GiB.'),
  processes: count(4, 1_000_000).optional().describe('Processes and threads of one command. Absent: 512.'),
  file_size: size(4096, 2 ** 44)
    .optional()
    .describe('Largest file that a command may write. Absent: 1GiB.'),
  disk: size(2 ** 20, 2 ** 50)
    .optional()
    .describe('What one command may add to the disk. Absent: 16GiB.'),
  output: size(2 ** 20, 2 ** 50)
    .optional()
    .describe('What one command may print. Absent: 4GiB.'),
});
