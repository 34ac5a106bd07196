import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NetworkAccess } from '../../src/policy/index.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { HAS_OPENSSL, makeCertificate } from './certificate.ts';
import { listen } from './egress-fixture.ts';
import {
  createFolders,
  type Folders,
  IS_LINUX,
  IS_ROOT,
  mountOf,
  OTHER_UID,
  openIn,
  processesWith,
  runIn,
  sleepMark,
} from './fixture.ts';
import { findLaterNode } from './later-node.ts';
import { PACKAGE, serveGit, serveIndex, serveRegistry } from './package-registry.ts';

const hasProgram = (file: string): boolean =>
  spawnSync(file, ['--version'], { env: { PATH: '/usr/bin:/bin' } }).error === undefined;
const LATER_NODE = findLaterNode();
const LATER_ENV = LATER_NODE === null ? {} : { LATER_NODE: LATER_NODE.program };
const LATER_MOUNTS = LATER_NODE === null ? [] : [mountOf(LATER_NODE.folder, 'read')];
const PIP = '/usr/bin/python3 -m pip --disable-pip-version-check --no-cache-dir -q';
const HAS_PIP = spawnSync('/usr/bin/python3', ['-m', 'pip', '--version']).status === 0;
const OWNERS = [
  { whose: "belay's user", uid: undefined, runs: IS_LINUX },
  { whose: 'another user', uid: OTHER_UID, runs: IS_LINUX && IS_ROOT },
] as const;

describe.each(OWNERS)('a command in a workspace of $whose', ({ uid, runs }) => {
  describe.skipIf(!runs || !HAS_OPENSSL)('with a list of hosts', () => {
    let folders: Folders;
    let sandbox: Sandbox;
    let secure: https.Server;
    let plain: http.Server;
    let ports: { secure: number; plain: number };
    let network: NetworkAccess;
    let outside: string;
    let temporary: string;
    beforeAll(async () => {
      folders = createFolders(uid);
      outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'belay-origin-')));
      const { key, cert } = makeCertificate(outside);
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
          cwd: path.join(outside, 'repository'),
        });
      execFileSync('git', ['init', '-q', path.join(outside, 'repository')]);
      git('commit', '-q', '--allow-empty', '-m', 'over the tunnel');
      const answer: http.RequestListener = (request, response) => {
        const origin = `https://localhost:${ports.secure}`;
        if (
          serveRegistry(request, response, origin) ||
          serveIndex(request, response) ||
          serveGit(request, response, outside)
        )
          return;
        response.end(`answer to ${request.url}\n`);
      };
      secure = https.createServer({ key, cert }, answer);
      plain = http.createServer(answer);
      ports = { secure: await listen(secure), plain: await listen(plain) };
      folders.write('ca.pem', cert.toString());
      const all = Object.values(ports);
      // What `localhost` resolves to is reached because it is listed itself.
      network = { mode: 'allow', hosts: all.flatMap((port) => [`localhost:${port}`, `127.0.0.1:${port}`]) };
      // A folder of its own for temporary files: other tests make scratch folders too.
      temporary = path.join(outside, 'tmp');
      mkdirSync(temporary);
      chmodSync(outside, 0o755);
      vi.stubEnv('TMPDIR', temporary);
      sandbox = await openIn(folders, { reachesOut: true });
      vi.unstubAllEnvs();
    });
    afterAll(async () => {
      await sandbox.close();
      secure.close();
      plain.close();
      folders.remove();
      rmSync(outside, { recursive: true, force: true });
    });

    const trust = (): Record<string, string> => {
      const file = path.join(folders.ws, 'ca.pem');
      const names = [
        'CURL_CA_BUNDLE',
        'GIT_SSL_CAINFO',
        'NODE_EXTRA_CA_CERTS',
        'SSL_CERT_FILE',
        'npm_config_cafile',
        'PIP_CERT',
      ];
      return Object.fromEntries(names.map((name) => [name, file]));
    };
    const run = (script: string) =>
      runIn(sandbox, folders, script, {
        network,
        env: { S: `https://localhost:${ports.secure}`, P: `http://localhost:${ports.plain}`, ...LATER_ENV, ...trust() },
        mounts: [mountOf(folders.ws, 'write'), ...LATER_MOUNTS],
      });
    const node = 'node --no-warnings -e';

    const PROGRAMS = [
      ['curl', true, 'curl -sS "$S/one"; curl -sS "$P/two"'],
      ['wget', hasProgram('wget'), 'wget -qO- --ca-certificate=ca.pem "$S/one"; wget -qO- "$P/two"'],
      [
        'python',
        hasProgram('python3'),
        `python3 -c 'import os, urllib.request as u
for at in [os.environ["S"] + "/one", os.environ["P"] + "/two"]: print(u.urlopen(at).read().decode(), end="")'`,
      ],
      [
        'fetch of Node 24',
        LATER_NODE !== null,
        `$LATER_NODE --no-warnings --input-type=module -e 'for (const at of [process.env.S + "/one", process.env.P + "/two"]) process.stdout.write(await (await fetch(at)).text())'`,
      ],
      [
        'http and https of Node 24',
        LATER_NODE !== null,
        `$LATER_NODE --no-warnings -e '
        require("https").get(process.env.S + "/one", (a) => a.on("data", (d) => process.stdout.write(d)).on("end", () =>
          require("http").get(process.env.P + "/two", (b) => b.pipe(process.stdout))))'`,
      ],
      [
        'a CONNECT of Node',
        true,
        `${node} '
        const http = require("http"), tls = require("tls"), { hostname, port } = new URL(process.env.HTTPS_PROXY), { host } = new URL(process.env.S);
        http.request({ hostname, port, method: "CONNECT", path: host }).on("connect", (answer, socket) => {
          tls.connect({ socket, servername: "localhost" }).on("secureConnect", function () { this.write("GET /one HTTP/1.0\\r\\n\\r\\n"); })
            .on("data", (d) => process.stdout.write(String(d).split("\\r\\n\\r\\n")[1] ?? "")).on("close", () =>
              http.get({ hostname, port, path: process.env.P + "/two" }, (a) => a.pipe(process.stdout)));
        }).end()'`,
      ],
    ] as const;
    for (const [program, isThere, script] of PROGRAMS) {
      it.skipIf(!isThere)(`reaches them by ${program}`, async () => {
        const output = 'answer to /one\nanswer to /two\n';
        expect(await run(script)).toMatchObject({ reason: 'exited', exitCode: 0, output });
      });
    }

    it('installs a package by npm', async () => {
      const ran = await run(
        `mkdir -p npm && cd npm && npm install --no-audit --no-fund --registry "$S/npm/" ${PACKAGE} && ls node_modules`,
      );
      expect(ran).toMatchObject({ exitCode: 0, output: expect.stringMatching(new RegExp(`^${PACKAGE}$`, 'm')) });
    });

    it.skipIf(!HAS_PIP)('installs a package by pip', async () => {
      const ran = await run(
        `${PIP} install --no-deps --target pip --index-url "$S/simple" ${PACKAGE} && cd pip && /usr/bin/python3 -c 'import tiny_egress_package; print(tiny_egress_package.NAME)'`,
      );
      expect(ran).toMatchObject({ exitCode: 0, output: 'by pip\n' });
    });

    it.skipIf(!HAS_PIP || LATER_NODE === null)(
      'has no package, repository or answer of a host that is not listed, by pip, git, npm or fetch',
      async () => {
        const ran = await run(`
        ${PIP} install --retries 0 --no-deps --target none --index-url https://other.example/simple ${PACKAGE} && echo breached &
        npm install --fetch-retries=0 --registry https://other.example/npm/ ${PACKAGE} > /dev/null && echo breached &
        git clone -q https://other.example/repository none && echo breached
        $LATER_NODE --no-warnings -e 'fetch("https://other.example/").then(() => console.log("breached"), () => console.log("refused"))'
        wait`);
        expect(ran.output.split('\n').filter((line) => line === 'breached')).toEqual([]);
        expect(ran.output).toContain('refused');
        expect(ran.network.map(({ allowed, host, port }) => [allowed, host, port])).toEqual([
          [false, 'other.example', 443],
        ]);
      },
    );

    it('clones a repository by git over https', async () => {
      const ran = await run('git clone -q "$S/git/repository" clone && git -C clone log --format=%s');
      expect(ran).toMatchObject({ exitCode: 0, output: 'over the tunnel\n' });
    });

    it('reaches no other host, port or address, by the proxy or past it, and is told so', async () => {
      const ran = await run(`
        curl -sS https://other.example/secret-path; curl -sS "http://localhost:1/"; curl -sS --noproxy '*' "$S"
        curl -sS http://169.254.169.254/latest/meta-data; curl -sS http://[::ffff:127.0.0.1]:${ports.plain}/x
        exec 3<>/dev/tcp/127.0.0.1/${ports.plain}; getent hosts example.com; exit 0`);
      expect(ran.output).not.toContain('answer to /secret');
      expect(ran.output).toMatch(/response 403/);
      expect(ran.output).toContain('answer to /x');
      expect(ran.network.map(({ allowed, host, port }) => [allowed, host, port])).toEqual([
        [false, 'other.example', 443],
        [false, 'localhost', 1],
        [false, '169.254.169.254', 80],
        [true, '127.0.0.1', ports.plain],
      ]);
      expect(JSON.stringify(ran.network)).not.toContain('secret-path');
    });

    it('tells a decision once, and no more than a hundred of a kind', async () => {
      const ran = await run(
        'for i in $(seq 120); do echo "url = http://h$i.example/"; echo "url = http://h1.example/"; done | curl -sS -o /dev/null -K -',
      );
      expect(ran.network).toHaveLength(101);
      expect(ran.network.at(-1)).toEqual({
        allowed: false,
        host: '*',
        port: null,
        rule: 'network.allow',
        reason: '20 more connections of this command are not told',
      });
    });

    it('moves more than memory holds at once, both ways, whole', async () => {
      const size = 40_000_000;
      const echo = http.createServer((request, response) => void request.pipe(response));
      const port = await listen(echo);
      const hosts = [`127.0.0.1:${port}`];
      const script = `head -c ${size} /dev/zero | curl -sS -T - "http://127.0.0.1:${port}/" | wc -c; head -c ${size} /dev/zero | curl -sS -p -T - "http://127.0.0.1:${port}/" | wc -c`;
      const ran = await runIn(sandbox, folders, script, { network: { mode: 'allow', hosts }, timeoutMs: 60_000 });
      echo.close();
      expect(ran.output).toBe(`${size}\n${size}\n`);
    });

    it('leaves no process, socket or file behind, however it ends', async () => {
      const mark = sleepMark();
      const stop = new AbortController();
      const ran = await runIn(
        sandbox,
        folders,
        `curl -sN "http://localhost:${ports.plain}/" >/dev/null; setsid sleep ${mark} & echo up; wait`,
        {
          network,
          signal: stop.signal,
          onOutput: () => stop.abort(),
        },
      );
      expect(ran.reason).toBe('cancelled');
      const [scratch = ''] = readdirSync(temporary);
      const left = readdirSync(path.join(temporary, scratch)).filter((name) => name.startsWith('net-'));
      expect([processesWith(mark), scratch.startsWith('belay-sandbox-'), left]).toEqual([[], true, []]);
    });
  });
});

describe.skipIf(!IS_LINUX)('a command without a list of hosts', () => {
  it('has no proxy and no bridge', async () => {
    const folders = createFolders();
    const sandbox = await openIn(folders, { reachesOut: true });
    const ran = await runIn(sandbox, folders, 'env | grep -i proxy; ls /run; cat /proc/net/tcp | wc -l');
    expect(ran).toMatchObject({ output: '1\n', network: [] });
    await sandbox.close();
    folders.remove();
  });
});
