import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { HAS_OPENSSL, makeCertificate } from './certificate.ts';
import { listen } from './egress-fixture.ts';
import { createFolders, type Folders, IS_LINUX, mountOf, openIn, runIn } from './fixture.ts';
import { PACKAGE, serveCrates, serveMaven, serveRegistry } from './package-registry.ts';

const MODULES = path.join(import.meta.dirname, '../../node_modules');
const HOST = 'one.example';

/** The real program behind the name: rustup's stand-in would look for it in a home folder that is not there inside. */
function findCargo(): string | null {
  const asked = spawnSync('rustup', ['which', 'cargo'], { encoding: 'utf8' });
  if (asked.status === 0) return asked.stdout.trim();
  return existsSync('/usr/bin/cargo') ? '/usr/bin/cargo' : null;
}
const CARGO = findCargo();
const RUST = CARGO === null ? null : path.dirname(path.dirname(CARGO));
/** What the commands are shown of the machine beside its system's folders. */
const TOOLS = [
  ...['pnpm', 'yarn', '@yarnpkg/cli-dist'].map((name) => path.join(MODULES, name)).filter((dir) => existsSync(dir)),
  ...(RUST === null ? [] : [RUST]),
];

/** It trusts only authorities of a key store, which the test has none of; and it starts sooner so. */
const MAVEN_OWN =
  '-XX:TieredStopAtLevel=1 -Dmaven.wagon.http.ssl.insecure=true -Daether.connector.https.securityMode=insecure';

const manifest = JSON.stringify({ name: 'x', version: '1.0.0', dependencies: { [PACKAGE]: '1.0.0' } });
const show = `node -p 'require("${PACKAGE}")'`;

const MANAGERS = [
  {
    name: 'pnpm',
    isThere: existsSync(path.join(MODULES, 'pnpm')),
    files: { 'package.json': manifest },
    script: `export npm_config_registry="$S/npm/" npm_config_update_notifier=false; node ${MODULES}/pnpm/bin/pnpm.cjs install --ignore-scripts && ${show}`,
    output: /^by a package manager$/m,
  },
  {
    name: 'yarn 1',
    isThere: existsSync(path.join(MODULES, 'yarn')),
    files: { 'package.json': manifest },
    script: `export YARN_REGISTRY="$S/npm/"; node ${MODULES}/yarn/bin/yarn.js install --ignore-scripts && ${show}`,
    output: /^by a package manager$/m,
  },
  {
    name: 'yarn 4',
    isThere: existsSync(path.join(MODULES, '@yarnpkg/cli-dist')),
    files: { 'package.json': manifest, 'yarn.lock': '' },
    script: `export YARN_NPM_REGISTRY_SERVER="$S/npm" YARN_NODE_LINKER=node-modules YARN_ENABLE_IMMUTABLE_INSTALLS=false YARN_ENABLE_TELEMETRY=false
      node ${MODULES}/@yarnpkg/cli-dist/bin/yarn.js install && ${show}`,
    output: /^by a package manager$/m,
  },
  {
    name: 'cargo',
    isThere: CARGO !== null,
    files: {
      'Cargo.toml': `[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n${PACKAGE} = "1"\n`,
      'src/lib.rs': '',
      '.cargo/config.toml': `[source.crates-io]\nreplace-with = "l"\n[source.l]\nregistry = "sparse+https://${HOST}/cargo/"\n`,
    },
    script: `RUSTC=${RUST}/bin/rustc ${CARGO} fetch && cat Cargo.lock`,
    output: new RegExp(`^name = "${PACKAGE}"$`, 'm'),
  },
  {
    name: 'maven',
    isThere: spawnSync('mvn', ['--version']).status === 0,
    files: {
      'pom.xml': `<project><modelVersion>4.0.0</modelVersion><parent><groupId>g</groupId><artifactId>${PACKAGE}</artifactId><version>1.0.0</version><relativePath/></parent><artifactId>x</artifactId><packaging>pom</packaging></project>`,
      'settings.xml': `<settings><mirrors><mirror><id>l</id><mirrorOf>*</mirrorOf><url>https://${HOST}/maven</url></mirror></mirrors></settings>`,
    },
    script: 'mvn -B -q -s settings.xml -Dmaven.repo.local=local validate && ls local/g/*/1.0.0',
    output: new RegExp(`^${PACKAGE}-1.0.0.pom$`, 'm'),
  },
] as const;

describe.skipIf(!IS_LINUX || !HAS_OPENSSL)('a package manager that may reach its registry', () => {
  let folders: Folders;
  let sandbox: Sandbox;
  let outside: string;
  let server: https.Server;
  let onward: http.Server;
  beforeAll(async () => {
    folders = createFolders();
    outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'belay-origin-')));
    const { key, cert } = makeCertificate(outside);
    server = https.createServer({ key, cert }, (request, response) => {
      const origin = `https://${HOST}`;
      if (serveRegistry(request, response, origin) || serveCrates(request, response, origin)) return;
      if (serveMaven(request, response)) return;
      response.statusCode = 404;
      response.end();
    });
    const port = await listen(server);
    // The proxy behind belay's, which knows where the host is: some programs never ask a proxy for `localhost`.
    onward = http.createServer().on('connect', (request: http.IncomingMessage, socket, head) => {
      const to = connect(request.url === `${HOST}:443` ? port : 1, '127.0.0.1');
      to.on('connect', () => socket.write('HTTP/1.1 200 OK\r\n\r\n')).on('error', () => socket.destroy());
      socket.on('error', () => to.destroy());
      to.write(head);
      socket.pipe(to).pipe(socket);
    });
    const proxy = `http://127.0.0.1:${await listen(onward)}`;
    folders.write('ca.pem', cert.toString());
    sandbox = await openIn(folders, { reachesOut: true, env: { ...process.env, HTTPS_PROXY: proxy } });
  });
  afterAll(async () => {
    await sandbox.close();
    server.close();
    onward.close();
    folders.remove();
    rmSync(outside, { recursive: true, force: true });
  });

  for (const { name, isThere, files, script, output } of MANAGERS) {
    it.skipIf(!isThere)(`installs a package from there: ${name}`, async () => {
      const folder = name.replaceAll(' ', '-');
      for (const [file, text] of Object.entries(files)) folders.write(path.join(folder, file), text);
      const ca = path.join(folders.ws, 'ca.pem');
      const ran = await runIn(sandbox, folders, script, {
        workdir: path.join(folders.ws, folder),
        network: { mode: 'allow', hosts: [HOST] },
        env: {
          S: `https://${HOST}`,
          npm_config_cafile: ca,
          YARN_HTTPS_CA_FILE_PATH: ca,
          CARGO_HTTP_CAINFO: ca,
          MAVEN_OPTS: MAVEN_OWN,
        },
        mounts: [mountOf(folders.ws, 'write'), ...TOOLS.map((tool) => mountOf(tool, 'read'))],
        timeoutMs: 120_000,
      });
      expect(ran).toMatchObject({ reason: 'exited', exitCode: 0, output: expect.stringMatching(output) });
      expect(ran.network.map(({ allowed, host, port }) => [allowed, host, port])).toEqual([[true, HOST, 443]]);
    });
  }
});
