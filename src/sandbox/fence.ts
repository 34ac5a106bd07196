import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { overlookEarlyEnd } from './awaited-script.ts';
import { ARGS_FD } from './bubblewrap-args.ts';
import type { BubblewrapSetup } from './bubblewrap-setup.ts';
import { type BubblewrapWords, createWords } from './bubblewrap-words.ts';
import { type Cgroup, createCgroup } from './cgroup.ts';
import { type Begun, beginProcess, type Launch } from './command-process.ts';
import { endFence, hasEnded } from './end-fence.ts';
import type { FencePlan } from './fence-plan.ts';
import type { HeldStages } from './held-stages.ts';
import { isRunning } from './process-tree.ts';
import { sendArguments } from './send-arguments.ts';
import type { Ahead } from './standby.ts';

/** A fence that was started. */
export interface Fence extends Ahead {
  words: BubblewrapWords;
  cgroup: Cgroup | null;
  begun: Begun;
  launch: Launch;
  /** It was made in a namespace that another one had staged. */
  entered: boolean;
}

interface Inside {
  /** What runs inside, with its arguments. */
  program: readonly string[];
  /** It takes its script from stdin. */
  waits: boolean;
  stages: HeldStages;
}

export async function openFence(
  setup: BubblewrapSetup,
  plan: FencePlan,
  { program, waits, stages }: Inside,
): Promise<Fence> {
  const { stageKey } = plan;
  let entered = false;
  const words = createWords((child) => stageKey !== null && stages.keep(stageKey, child));
  const cgroup = setup.cgroups === null ? null : createCgroup(setup.cgroups, setup.bounds);
  const launch: Launch = {
    start(outputFd) {
      // At the last moment: another fence's start may close it.
      const held = stageKey === null ? null : stages.find(stageKey);
      entered = held !== null;
      const { file, args, fds } = plan.launch(cgroup?.procsFiles ?? [], held);
      const filterFd = openSync(setup.filterFile, 'r');
      try {
        // bubblewrap's first process keeps the environment it was started with in /proc/1/environ, readable inside.
        const env = { PATH: '/usr/bin:/bin' };
        const child = spawn(file, [...args, '--args', String(ARGS_FD), '--', ...program], {
          env,
          cwd: '/',
          // A signal to belay's process group, such as a Ctrl-C, could end bubblewrap before what is inside would end with it.
          detached: true,
          stdio: [waits ? 'pipe' : 'ignore', outputFd, 'pipe', filterFd, 'pipe', 'pipe', ...fds],
        });
        words.listen(child);
        overlookEarlyEnd(child);
        sendArguments(child, plan.args);
        return child;
      } finally {
        closeSync(filterFd);
      }
    },
    kill: (child) => void endFence(child),
    async settle() {
      await words.ended;
      const pid = words.firstPid();
      while (pid !== null && isRunning(pid)) await delay(1);
    },
  };
  const begun = await beginProcess(launch, setup.pipes).catch(async (error: unknown) => {
    await cgroup?.remove();
    throw error;
  });
  const { child, exited } = begun;
  return {
    words,
    cgroup,
    begun,
    launch,
    entered,
    hasEnded: () => hasEnded(child),
    async end() {
      closeSync(begun.outputFd);
      // Whatever a signal may miss ends by itself: nobody will send it a script.
      child.stdin?.destroy();
      await endFence(child);
      await exited;
      await launch.settle(child);
      await cgroup?.remove();
    },
  };
}
