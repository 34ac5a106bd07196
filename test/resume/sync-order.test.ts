import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI } from '../scenario.ts';
import { openSite } from './site.ts';
import { hasStrace, parseTrace, type SystemCall } from './system-calls.ts';

const CALLS = 'write,writev,sendto,sendmsg,fdatasync,fsync,execve,rename,renameat,renameat2,link,linkat';
const LOGS = ['events.jsonl', 'notes.jsonl'];

/** Logs with a line that is not known to be on disk when a call begins. */
function unsynced(calls: readonly SystemCall[], effect: SystemCall): string[] {
  return LOGS.filter((log) => {
    const of = calls.filter(({ text }) => text.includes(`/${log}>`) && !text.startsWith('execve'));
    const lastWrite = of.findLast((call) => call.name.startsWith('write') && call.from < effect.from);
    const isSynced = of.some(
      (call) => call.name.endsWith('sync') && call.from > (lastWrite?.to ?? 0) && call.to < effect.from,
    );
    return lastWrite !== undefined && !isSynced;
  });
}

it.skipIf(!hasStrace)(
  'no request, command or file write begins before the thread is on disk',
  async () => {
    const site = await openSite(
      [
        [{ key: 'run', name: 'shell', input: { command: ': marker-4711; touch made.txt' } }],
        [{ key: 'edit', name: 'write_file', input: { path: 'note.txt', content: 'noted\n' } }],
      ],
      { verify: { checks: [] } },
    );
    const { bench, agent } = site;
    try {
      // What nobody has committed is in the thread's snapshots alone once the agent is at work.
      bench.write('mine.txt', 'not committed\n');
      const trace = join(bench.io, 'trace');
      const child = await import('node:child_process');
      const args = [
        '-f',
        '-yy',
        '-s',
        '4096',
        '-e',
        `trace=${CALLS}`,
        '-o',
        trace,
        process.execPath,
        CLI,
        'run',
        'go on',
      ];
      const end = await new Promise<number | null>((resolve, reject) =>
        child
          .spawn('strace', args, { cwd: bench.ws, env: bench.env, stdio: 'ignore' })
          .on('error', reject)
          .on('close', resolve),
      );
      expect(end).toBe(0);
      const calls = parseTrace(readFileSync(trace, 'utf8'));

      const effects = {
        request: calls.filter(
          ({ text }) => /^(write|writev|sendto|sendmsg)\(\d+<TCP/.test(text) && text.includes('POST /'),
        ),
        command: calls.filter(({ name, text }) => name === 'execve' && text.includes('marker-4711')).slice(0, 1),
        edit: calls
          .filter(
            ({ name, text }) => /^(rename|link)/.test(name) && text.includes('.belay-') && text.includes('note.txt"'),
          )
          .slice(0, 1),
      };
      expect(Object.entries(effects).map(([kind, found]) => [kind, found.length])).toEqual([
        ['request', 3],
        ['command', 1],
        ['edit', 1],
      ]);
      for (const [kind, found] of Object.entries(effects))
        for (const effect of found) expect({ kind, unsynced: unsynced(calls, effect) }).toEqual({ kind, unsynced: [] });

      // And what the thread stands on is there before the first of them.
      const [thread = ''] = execFileSync('ls', [join(bench.root, 'state/belay/threads')], { encoding: 'utf8' }).split(
        '\n',
      );
      const store = join(bench.root, 'state/belay/threads', thread, 'store.git');
      const blob = bench.git('hash-object', 'mine.txt').trim();
      const synced = calls
        .filter(({ name, to }) => name === 'fsync' && to < (effects.request[0]?.from ?? 0))
        .flatMap(({ text }) => /<([^>]+)>/.exec(text)?.[1] ?? []);
      expect(synced).toContain(join(store, 'start.json'));
      expect(synced.map((path) => basename(path))).toContain(blob.slice(2));
      expect(synced).toContain(join(store, '../..', thread));
    } finally {
      bench.remove();
      await agent.close();
    }
  },
  120_000,
);
