import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processesWith, sleepMark } from '../sandbox/fixture.ts';
import { type Bench, CLI, type CliEnd, commitAll, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';

const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const shell = (command: string) => answer('shell', { command });
const finish = answer('finish', { status: 'done', summary: 'done' });
/** Answers with its file, so that it shows which tree it runs in. */
const SERVER = `
const { readFileSync } = require('node:fs');
const [, , port, host] = process.argv;
require('node:http').createServer((q, a) => {
  if (q.url === '/end') process.exit(3);
  a.end('answer ' + readFileSync('a.txt'));
}).listen(Number(port), host, () => console.log('up'));
`;
const ready = 'curl -sSf -o /dev/null http://localhost:38080/';
const api = { name: 'api', run: 'node server.js 38080 localhost', ready };

let bench: Bench;
let owner: number | undefined;
afterEach(() => bench.remove());

async function run(policy: object, answers: string): Promise<CliEnd> {
  const files = { 'a.txt': 'a\n', 'server.js': SERVER, 'belay.yml': JSON.stringify({ version: 1, ...policy }) };
  bench = createBench(files, owner);
  commitAll(bench);
  const cassette = join(bench.io, 'model.jsonl');
  writeFileSync(cassette, answers);
  return runCli(['run', 'go', '--replay', cassette], bench);
}

const outputs = ({ events }: CliEnd): string[] =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item.aggregated_output] : [],
  );
const services = ({ events }: CliEnd): string[] =>
  events.flatMap((event) =>
    event.type === 'item.completed' && event.item.type === 'service'
      ? [`${event.phase} ${event.item.name} ${event.item.status} ${event.item.restarts}`]
      : [],
  );

describe.each(USERS)('a service, with belay run by $who,', ({ uid, works }) => {
  beforeEach(() => {
    owner = uid;
  });

  it.skipIf(!works)(
    'is up for the agent and for each round of checks, in the tree of that round, and gone after',
    async () => {
      const mark = sleepMark();
      const end = await run(
        {
          services: [{ ...api, run: `sleep ${mark} & ${api.run}` }],
          verify: { checks: [{ name: 'asks', run: 'curl -sSf http://127.0.0.1:38080/ | grep -q "answer b"' }] },
        },
        shell('curl -sS http://localhost:38080/; echo b > a.txt; curl -sS http://[::1]:38080/') + finish,
      );
      expect({ code: end.code, reason: end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
      expect(end.result?.evidence).toBe('fixed');
      expect(outputs(end)).toEqual(['answer a\nanswer b\n']);
      expect(services(end)).toEqual([
        'baseline api completed 0',
        'agent api completed 0',
        'verify api completed 0',
        'clean_room api completed 0',
      ]);
      expect(processesWith(mark)).toEqual([]);
    },
  );

  it.skipIf(!works)('reaches those before it, and only in its phases', async () => {
    const front = {
      name: 'front',
      run: `${ready} && exec node server.js 38081 127.0.0.1`,
      ready: 'curl -sSf -o /dev/null http://127.0.0.1:38081/',
      phases: ['verify'],
    };
    const end = await run(
      {
        services: [api, front],
        verify: {
          checks: [{ name: 'asks', run: 'curl -sSf http://127.0.0.1:38081/ && curl -sSf http://127.0.0.1:38080/' }],
        },
      },
      shell('curl -s http://127.0.0.1:38081/ || echo none') + finish,
    );
    expect([end.code, outputs(end)]).toEqual([0, ['none\n']]);
  });

  it.skipIf(!works)('is started again when it ends by itself', async () => {
    const end = await run(
      { services: [api], verify: { checks: [] } },
      shell('curl -s http://localhost:38080/end; echo asked') +
        shell(`for i in $(seq 50); do ${ready} 2>/dev/null && break; sleep 0.2; done; echo over`) +
        shell('curl -sS http://localhost:38080/') +
        finish,
    );
    expect(outputs(end).at(-1)).toBe('answer a\n');
    expect(services(end)).toEqual(['agent api completed 1']);
  });
});

describe('a service', () => {
  beforeEach(() => {
    owner = undefined;
  });

  it.each([
    ['that ends', { run: 'echo broken; exit 7' }, 'service api ended with exit code 7 before it was ready'],
    ['that does not answer in time', { run: 'sleep 60', timeout: '1s' }, 'service api was not ready within 1 s'],
  ])('%s before the agent ends the run with exit code 22', async (_what, more, reason) => {
    for (const checks of [[], [{ name: 'c', run: 'true' }]]) {
      const end = await run({ services: [{ ...api, ...more }], verify: { checks } }, shell('touch ran') + finish);
      expect({ code: end.code, outcome: end.result?.outcome, reason: end.result?.reason }).toEqual({
        code: 22,
        outcome: 'setup_failed',
        reason: expect.stringContaining(reason),
      });
      expect(services(end)).toEqual([`${checks.length === 0 ? 'agent' : 'baseline'} api failed 0`]);
      bench.remove();
    }
  });

  it('that the change breaks is evidence for the agent, and no verified run', async () => {
    const end = await run(
      { services: [api], limits: { attempts: 2 }, verify: { checks: [{ name: 'c', run: 'true' }] } },
      shell('echo broken > server.js') + finish + finish,
    );
    expect({ code: end.code, outcome: end.result?.outcome, reason: end.result?.reason }).toEqual({
      code: 10,
      outcome: 'unverified',
      reason: expect.stringContaining('service api ended with exit code 1 before it was ready'),
    });
  });

  it('ends with the run when SIGTERM does', async () => {
    const mark = sleepMark();
    const service = { name: 's', run: `sleep ${mark}`, ready: 'true' };
    const policy = { version: 1, services: [service], verify: { checks: [] } };
    bench = createBench({ 'belay.yml': JSON.stringify(policy) });
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    writeFileSync(cassette, shell('echo begun; sleep 60') + finish);
    const child = spawn(process.execPath, [CLI, 'run', 'go', '--replay', cassette], { cwd: bench.ws, env: bench.env });
    let stdout = '';
    child.stdout.on('data', (text: Buffer) => {
      stdout += text;
      if (stdout.includes('"type":"item.started"') && stdout.includes('sleep 60')) child.kill('SIGTERM');
    });
    const [code] = await once(child, 'close');
    expect([code, processesWith(mark)]).toEqual([143, []]);
    expect(stdout).toMatch(/"type":"service"[^\n]*"status":"cancelled"|"status":"cancelled"[^\n]*"type":"service"/);
  });

  it('ends with the run when its time is over', async () => {
    const mark = sleepMark();
    bench = createBench({
      'a.txt': 'a\n',
      'belay.yml': JSON.stringify({
        version: 1,
        services: [{ name: 's', run: `sleep ${mark}`, ready: 'false' }],
        verify: { checks: [] },
      }),
    });
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    writeFileSync(cassette, finish);
    const end = await runCli(['run', 'go', '--replay', cassette, '--wall-time', '3s'], bench);
    expect([end.code, end.result?.outcome]).toEqual([11, 'limit_reached']);
    expect(processesWith(mark)).toEqual([]);
  });
});
