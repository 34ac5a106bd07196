import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, runCli } from '../scenario.ts';

export interface ThreadFileParts {
  header: object;
  entries: { name: string; bytes: Buffer }[];
}

/** Another machine: a clone of the repository at its base, and a state folder of its own. */
export function createMachine(bench: Bench, name: string) {
  const root = join(bench.root, name);
  mkdirSync(join(root, 'state'), { recursive: true });
  bench.git('clone', '-q', '--no-hardlinks', bench.ws, join(root, 'ws'));
  const options = { cwd: join(root, 'ws'), env: { XDG_STATE_HOME: join(root, 'state') } };
  const folder = join(root, 'state/belay/threads');
  return {
    ws: options.cwd,
    folder,
    threads: () => (existsSync(folder) ? readdirSync(folder) : []),
    belay: (...args: string[]) => runCli(args, bench, options),
    thread: (...args: string[]) => runCli(['thread', ...args], bench, options),
  };
}

/** The parts of a thread file that is unpacked. */
export function entriesOf(data: Buffer): ThreadFileParts {
  const lineAt = (at: number) => JSON.parse(data.subarray(at, data.indexOf(10, at)).toString());
  const header = lineAt(0);
  const entries = [];
  for (let at = data.indexOf(10) + 1; ; ) {
    const line = lineAt(at);
    if (line.name === undefined) return { header, entries };
    const start = data.indexOf(10, at) + 1;
    at = start + line.size;
    entries.push({ name: String(line.name), bytes: data.subarray(start, at) });
  }
}

/** A file of these parts with a digest that fits, not packed yet. */
export function renderFile({ header, entries }: ThreadFileParts): Buffer {
  const body = Buffer.concat([
    Buffer.from(`${JSON.stringify(header)}\n`),
    ...entries.flatMap(({ name, bytes }) => [Buffer.from(`${JSON.stringify({ name, size: bytes.length })}\n`), bytes]),
  ]);
  const sha256 = createHash('sha256').update(body).digest('hex');
  return Buffer.concat([body, Buffer.from(`${JSON.stringify({ entries: entries.length, sha256 })}\n`)]);
}

export type Forged = Record<string, unknown>;

/** Lines of a log, changed, in a chain that holds: whoever forges one can compute it. */
export function rechain(bytes: Buffer, change: (lines: Forged[]) => Forged[]): Buffer {
  const lines: Forged[] = bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  let prev = '0'.repeat(64);
  let seq = 0;
  const texts = change(lines).map((line) => {
    if (line['type'] === 'run.started') [prev, seq] = ['0'.repeat(64), 0];
    const text = JSON.stringify({ ...line, seq, prev });
    prev = createHash('sha256').update(text).digest('hex');
    seq += 1;
    return `${text}\n`;
  });
  return Buffer.from(texts.join(''));
}
