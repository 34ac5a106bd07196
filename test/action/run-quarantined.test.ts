import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runQuarantined } from '../../src/cli/github/run-quarantined.ts';
import { readRunnerLog } from './runner-log.ts';

async function quarantine(script: string, whenItSays: Readonly<Record<string, NodeJS.Signals>> = {}) {
  const signals = new EventEmitter();
  let output = '';
  const stdout = new Writable({
    write(bytes, _encoding, done) {
      const text = String(bytes);
      output += text;
      for (const [word, signal] of Object.entries(whenItSays)) if (text.includes(word)) signals.emit(signal, signal);
      done();
    },
  });
  const code = await runQuarantined({
    title: 'a program',
    file: 'bash',
    args: ['-c', script],
    env: { PATH: process.env['PATH'] },
    io: { stdout, on: (name, one) => signals.on(name, one), off: (name, one) => signals.off(name, one) },
  });
  return { code, log: readRunnerLog(output), listeners: signals.eventNames() };
}

describe('a quarantined program', () => {
  it('prints what the runner does not obey, on both streams, and ends with its exit code', async () => {
    const { code, log } = await quarantine(
      `printf '::set-output name=verified::true\\n##[add-path]/evil\\n::stop-commands::x\\n\\r::error::boo\\n'
       printf '::add-mask::x\\n::endgroup::' >&2
       exit 7`,
    );
    expect({ code, names: log.commands.map(({ name }) => name) }).toEqual({
      code: 7,
      names: ['group', 'stop-commands', 'endgroup'],
    });
    expect(log.text).toEqual(expect.arrayContaining(['::set-output name=verified::true', '## [add-path]/evil']));
  });

  it('cannot hide a mark by writing it in pieces', async () => {
    const { log } = await quarantine(
      `printf '#'; sleep 0.05; printf '#'; sleep 0.05; printf '[error]boo #'; printf '#'`,
    );
    expect(log.text).toContain('## [error]boo ##');
  });

  it('gets the signals of the runner, and leaves no listener behind', async () => {
    const { code, listeners } = await quarantine(`trap 'exit 143' TERM; echo ready; while :; do sleep 0.05; done`, {
      ready: 'SIGTERM',
    });
    expect({ code, listeners }).toEqual({ code: 143, listeners: [] });
  });

  it('waits for a slow log instead of filling memory, and loses nothing', async () => {
    const { log } = await quarantine('seq 1 200000');
    expect(log.text.slice(0, 200_000).at(-1)).toBe('200000');
  });
});
