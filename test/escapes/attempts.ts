import type { Attempt } from './attempt.ts';
import { FILE_ATTEMPTS } from './file-attempts.ts';
import { KERNEL_ATTEMPTS } from './kernel-attempts.ts';
import { NETWORK_ATTEMPTS } from './network-attempts.ts';
import { PROCESS_ATTEMPTS } from './process-attempts.ts';
import { REPOSITORY_ATTEMPTS } from './repository-attempts.ts';

/** Every deed, by where it aims. */
export const ATTEMPTS: Readonly<Record<string, readonly Attempt[]>> = {
  'files outside': FILE_ATTEMPTS,
  'processes outside': PROCESS_ATTEMPTS,
  'the network': NETWORK_ATTEMPTS,
  'the kernel': KERNEL_ATTEMPTS,
  'the repository': REPOSITORY_ATTEMPTS,
};
