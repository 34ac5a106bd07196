import { spawn } from 'node:child_process';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandEnd } from '../../src/sandbox/index.ts';
import { shell } from '../../src/tools/shell.ts';
import type { ToolPorts } from '../../src/tools/tool.ts';
import { createRoom } from './room.ts';

/** Really runs bash, without a fence. */
const runCommand: ToolPorts['runCommand'] = ({ script, workdir, onOutput }) =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', script], { cwd: workdir });
    child.stdout.on('data', (chunk: Buffer) => void onOutput(chunk));
    child.on('close', (exitCode) => resolve({ reason: 'exited', exitCode, durationMs: 7, detail: null }));
  });

const endsWith = (end: Partial<CommandEnd>) => ({
  runCommand: async (): Promise<CommandEnd> => ({
    reason: 'exited',
    exitCode: null,
    durationMs: 7,
    detail: null,
    ...end,
  }),
});

describe('shell', () => {
  test('streams output and notes the exit code', async () => {
    const room = createRoom({}, { runCommand });
    expect(await room.call(shell, { command: 'echo a; exit 3' })).toEqual({
      status: 'failed',
      output: 'a\n',
      note: 'exit code 3',
      detail: { type: 'command_execution', command: 'echo a; exit 3', exitCode: 3, reason: null },
    });
    expect((await room.call(shell, { command: 'true' })).note).toBe('exit code 0, no output');
  });

  test('runs in the workspace, or in a folder of the repository', async () => {
    const room = createRoom({ 'sub/deep/a': '', 'b.txt': '' }, { runCommand });
    room.ports.workspace = path.join(room.dir, 'sub');
    const pwd = async (workdir?: string) => {
      const { output, note } = await room.call(shell, {
        command: 'pwd -P',
        ...(workdir === undefined ? {} : { workdir }),
      });
      return output === '' ? note : path.relative(room.dir, output.trim());
    };
    expect([await pwd(), await pwd('deep'), await pwd('..')]).toEqual(['sub', 'sub/deep', '']);
    expect(await pwd('../..')).toBe('../..: is outside of the repository');
    expect(await pwd('../b.txt')).toBe('workdir ../b.txt: there is no such folder');
    expect(await pwd('none')).toBe('workdir none: there is no such folder');
  });

  test('never takes more time than the policy gives', async () => {
    const asked: number[] = [];
    const room = createRoom(
      {},
      {
        runCommand: async ({ timeoutMs }) => {
          asked.push(timeoutMs);
          return { reason: 'timed_out', exitCode: null, durationMs: 7, detail: null };
        },
      },
    );
    const notes = [
      await room.call(shell, { command: 'x' }),
      await room.call(shell, { command: 'x', timeout_ms: 1500 }),
    ];
    await room.call(shell, { command: 'x', timeout_ms: 99_999_999 });
    expect(asked).toEqual([5000, 1500, 5000]);
    expect(notes.map(({ status, note }) => [status, note])).toEqual([
      ['timed_out', 'timed out after 5 s and was killed'],
      ['timed_out', 'timed out after 1.5 s and was killed'],
    ]);
  });

  test.each([
    [{ reason: 'cancelled' }, 'cancelled', 'cancelled: the run is ending'],
    [{ reason: 'failed_to_start', detail: 'no bash' }, 'failed', 'could not be started: no bash'],
    [{ reason: 'killed', detail: 'out of memory' }, 'failed', 'killed: out of memory'],
  ] as const)('tells of %j', async (end, status, note) => {
    const outcome = await createRoom({}, endsWith(end)).call(shell, { command: 'x' });
    expect(outcome).toEqual({
      status,
      output: '',
      note,
      detail: { type: 'command_execution', command: 'x', exitCode: null, reason: note },
    });
  });
});
