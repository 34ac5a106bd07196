import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { listen, openEcho } from '../sandbox/egress-fixture.ts';
import { IS_ROOT, OTHER_UID } from '../sandbox/fixture.ts';
import { type Bench, commitAll, createBench, runCli } from '../scenario.ts';
import { USERS } from '../users.ts';

const DEBIAN = '/usr/lib/postgresql';
const versions = existsSync(DEBIAN)
  ? readdirSync(DEBIAN).filter((name) => existsSync(join(DEBIAN, name, 'bin/initdb')))
  : [];
const BIN = join(DEBIAN, versions.at(-1) ?? '', 'bin');
const hasPostgres = versions.length > 0 && spawnSync('psql', ['--version']).status === 0;
/** The server refuses to run as root, and as a user without an account: its package makes one. */
const SERVER_UID = Number(/^postgres:[^:]*:(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[1] ?? OTHER_UID);
const ownName = hostname().toLowerCase();
const ownAddress = await lookup(ownName).then(
  ({ address }) => address,
  () => null,
);

let bench: Bench;
let owner: number | undefined;
afterEach(() => bench.remove());

function verify(policy: object) {
  bench = createBench({ 'belay.yml': JSON.stringify({ version: 1, ...policy }) }, owner);
  commitAll(bench);
  return runCli(['verify'], bench);
}
/** Says a line to a port by the shell alone, and shows what comes back. */
const say = (host: string, port: number) =>
  `exec 3<>/dev/tcp/${host}/${port} && echo "to ${host}" >&3 && read -r line <&3 && echo "$line"`;

describe.each(USERS)('a port of the host, with belay run by $who,', ({ uid, works }) => {
  beforeEach(() => {
    owner = uid;
  });

  it.skipIf(!works)('is reached from inside under its own name and number, and no other port is', async () => {
    const [echo, other] = [await openEcho(), await openEcho()];
    onTestFinished(echo.close);
    onTestFinished(other.close);
    const run = `out=$(${say('127.0.0.1', echo.port)}); echo "$out"; test "$out" = "to 127.0.0.1" && ! (${say('127.0.0.1', other.port)})`;
    const end = await verify({
      sandbox: { services: [`127.0.0.1:${echo.port}`] },
      verify: { checks: [{ name: 'port', run }] },
    });
    expect({ code: end.code, reason: end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    expect([echo.connections(), other.connections()]).toEqual([2, 0]);
  });

  it.skipIf(!works || ownAddress === null)(
    'is reached by a name that the host knows, as the containers of a job have them',
    async () => {
      const server = createServer((socket) => socket.pipe(socket));
      server.listen(0, ownAddress ?? undefined);
      onTestFinished(() => void server.close());
      const address = await new Promise<number>((resolve) =>
        server.once('listening', () => {
          const at = server.address();
          resolve(at === null || typeof at === 'string' ? 0 : at.port);
        }),
      );
      const run = `test "$(${say(ownName, address)})" = "to ${ownName}"`;
      const end = await verify({
        sandbox: { services: [`${ownName}:${address}`] },
        verify: { checks: [{ name: 'name', run }] },
      });
      expect(end.code).toBe(0);
    },
  );
});

describe('a port of the host', () => {
  it.each(['10.0.0.1:5432', '127.0.0.1:80', 'db', 'db:0'])(
    'cannot be %j, which is said before anything runs',
    async (entry) => {
      const end = await verify({ sandbox: { services: [entry] }, verify: { checks: [] } });
      expect({ code: end.code, reason: end.result?.reason }).toEqual({
        code: 2,
        reason: expect.stringMatching(/sandbox.services.*expected/s),
      });
    },
  );
});

describe.each(USERS)('a PostgreSQL server beside the run, with belay run by $who,', ({ uid, works }) => {
  it.skipIf(!works || !hasPostgres)('is used by a check and by the agent', async () => {
    const probe = createServer();
    const port = await listen(probe);
    probe.close();
    bench = createBench({}, uid);
    const data = mkdtempSync(join(tmpdir(), 'belay-test-'));
    onTestFinished(() => rmSync(data, { recursive: true }));
    const who = IS_ROOT ? { uid: SERVER_UID, gid: SERVER_UID } : {};
    if (IS_ROOT) chownSync(data, SERVER_UID, SERVER_UID);
    const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: data };
    execFileSync(join(BIN, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'tester'], { ...who, env, stdio: 'ignore' });
    const server = spawn(join(BIN, 'postgres'), ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', data], {
      ...who,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(async () => {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGINT');
      await gone;
    });
    await new Promise<void>((resolve) =>
      server.stderr.on('data', (text: Buffer) => text.includes('ready to accept') && resolve()),
    );

    const psql = `psql -h 127.0.0.1 -p ${port} -U tester -d postgres -v ON_ERROR_STOP=1 -Atc`;
    bench.write('schema.sql', 'create table if not exists notes (body text)');
    const checks = [
      {
        name: 'query',
        run: `${psql} "$(cat schema.sql)"; ${psql} "insert into notes values ('kept')"; test "$(${psql} "select distinct body from notes")" = kept`,
      },
    ];
    bench.write(
      'belay.yml',
      JSON.stringify({ version: 1, sandbox: { services: [`127.0.0.1:${port}`] }, verify: { checks } }),
    );
    commitAll(bench);
    const cassette = join(bench.io, 'model.jsonl');
    const calls = [
      { name: 'shell', input: { command: `${psql} 'select 40 + 2'` } },
      { name: 'finish', input: { status: 'done', summary: 'done' } },
    ];
    writeFileSync(cassette, calls.map((call) => `${JSON.stringify({ tool_calls: [call] })}\n`).join(''));
    const end = await runCli(['run', 'go', '--replay', cassette], bench);
    expect({ code: end.code, reason: end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    const output = end.events.flatMap((event) =>
      event.type === 'item.completed' && event.item.type === 'command_execution' ? [event.item.aggregated_output] : [],
    );
    expect(output).toEqual(['42\n']);
  });
});
