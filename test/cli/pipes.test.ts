import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, CLI, createBench } from '../scenario.ts';

let bench: Bench;
beforeEach(() => {
  bench = createBench({ 'a.txt': 'a\n' });
});
afterEach(() => bench.remove());

describe('a reader that goes away', () => {
  it('ends a printing command quietly', async () => {
    const child = spawn(process.execPath, [CLI, 'schema', 'events'], {
      cwd: bench.ws,
      env: bench.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdout.destroy();
    const code = await new Promise<number | null>((resolve) => child.on('close', (status) => resolve(status)));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
