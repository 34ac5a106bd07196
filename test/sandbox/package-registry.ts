import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** Files as a tape archive, in the ustar form. */
function tarOf(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write('0', 156);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [header, body];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export const PACKAGE = 'tiny-egress-package';
const TARBALL = gzipSync(
  tarOf({
    'package/package.json': JSON.stringify({ name: PACKAGE, version: '1.0.0', main: 'name.js' }),
    'package/name.js': "module.exports = 'by a package manager';\n",
  }),
);

/** A registry of one npm package; true when the request was for it. */
export function serveRegistry(request: IncomingMessage, answer: ServerResponse, origin: string): boolean {
  const path = (request.url ?? '').replace(/^\/npm/, '');
  if (path === `/${PACKAGE}`) {
    const integrity = `sha512-${createHash('sha512').update(TARBALL).digest('base64')}`;
    const dist = { tarball: `${origin}/npm/${PACKAGE}.tgz`, integrity };
    const versions = { '1.0.0': { name: PACKAGE, version: '1.0.0', dist } };
    answer.setHeader('content-type', 'application/json');
    // Yarn 4 takes nothing whose age is not known.
    const time = { '1.0.0': '2020-01-01T00:00:00.000Z' };
    answer.end(JSON.stringify({ name: PACKAGE, 'dist-tags': { latest: '1.0.0' }, versions, time }));
    return true;
  }
  if (path !== `/${PACKAGE}.tgz`) return false;
  answer.end(TARBALL);
  return true;
}

const CRATE = gzipSync(
  tarOf({
    [`${PACKAGE}-1.0.0/Cargo.toml`]: `[package]\nname = "${PACKAGE}"\nversion = "1.0.0"\nedition = "2021"\n`,
    [`${PACKAGE}-1.0.0/src/lib.rs`]: '',
  }),
);

/** A sparse index of one crate behind `/cargo/`; true when the request was for it. */
export function serveCrates(request: IncomingMessage, answer: ServerResponse, origin: string): boolean {
  const cksum = createHash('sha256').update(CRATE).digest('hex');
  const files: Readonly<Record<string, string | Buffer>> = {
    '/cargo/config.json': JSON.stringify({ dl: `${origin}/cargo/dl` }),
    [`/cargo/ti/ny/${PACKAGE}`]: JSON.stringify({
      name: PACKAGE,
      vers: '1.0.0',
      deps: [],
      cksum,
      features: {},
      yanked: false,
    }),
    [`/cargo/dl/${PACKAGE}/1.0.0/download`]: CRATE,
  };
  const file = files[request.url ?? ''];
  if (file !== undefined) answer.end(file);
  return file !== undefined;
}

/** A Maven repository of one parent project behind `/maven/`; true when the request was for it. */
export function serveMaven(request: IncomingMessage, answer: ServerResponse): boolean {
  const pom = `<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>${PACKAGE}</artifactId><version>1.0.0</version><packaging>pom</packaging></project>`;
  const at = `/maven/g/${PACKAGE}/1.0.0/${PACKAGE}-1.0.0.pom`;
  if (request.url === at) answer.end(pom);
  else if (request.url === `${at}.sha1`) answer.end(createHash('sha1').update(pom).digest('hex'));
  else return false;
  return true;
}

const WHEEL = `${PACKAGE.replaceAll('-', '_')}-1.0.0-py3-none-any.whl`;
/** Writes a wheel of one module to its output. */
const MAKE_WHEEL = `
import io, sys, zipfile
name = sys.argv[1]
out = io.BytesIO()
with zipfile.ZipFile(out, "w") as wheel:
    wheel.writestr(name + ".py", "NAME = 'by pip'\\n")
    wheel.writestr(name + "-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: " + name + "\\nVersion: 1.0.0\\n")
    wheel.writestr(name + "-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(name + "-1.0.0.dist-info/RECORD", "")
sys.stdout.buffer.write(out.getvalue())
`;

/** An index of one Python package behind `/simple/`; true when the request was for it. */
export function serveIndex(request: IncomingMessage, answer: ServerResponse): boolean {
  if (request.url === `/simple/${PACKAGE}/`) {
    answer.setHeader('content-type', 'text/html');
    answer.end(`<!DOCTYPE html><html><body><a href="/simple/${WHEEL}">${WHEEL}</a></body></html>`);
    return true;
  }
  if (request.url !== `/simple/${WHEEL}`) return false;
  answer.end(execFileSync('python3', ['-c', MAKE_WHEEL, PACKAGE.replaceAll('-', '_')]));
  return true;
}

/** Git's own server behind `/git/`; true when the request was for it. */
export function serveGit(request: IncomingMessage, answer: ServerResponse, root: string): boolean {
  const url = new URL(request.url ?? '', 'http://host.invalid');
  if (!url.pathname.startsWith('/git/')) return false;
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: url.pathname.slice('/git'.length),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.once('close', () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf('\r\n\r\n');
    for (const line of whole.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ');
      if (name.toLowerCase() === 'status') answer.statusCode = Number.parseInt(value, 10);
      else answer.setHeader(name, value);
    }
    answer.end(whole.subarray(end + 4));
  });
  return true;
}
