import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConnectTarget, parseForwardTarget } from '../../src/sandbox/egress/request-target.ts';
import { readServerName } from '../../src/sandbox/egress/server-name.ts';
import { openProxyBench, type ProxyBench, readAll } from './egress-fixture.ts';

const piece = fc.oneof(
  fc.constantFrom(
    'CONNECT',
    'GET',
    'POST',
    ' ',
    '  ',
    'http://',
    'HTTP://',
    'https://',
    '//',
    '/',
    '\r\n',
    '\n',
    '\r',
    ':',
    '@',
    '#',
    '?',
    '%',
    '\\',
    '[',
    ']',
    '\0',
    '\t',
  ),
  fc.constantFrom(
    'one.example',
    'two.example',
    '127.0.0.1',
    '[::1]',
    '0x7f.1',
    '443',
    '80',
    '99999',
    '-1',
    'HTTP/1.1',
    'HTTP/9.9',
  ),
  fc.constantFrom(
    'Host: one.example',
    'Host:',
    'Connection: upgrade',
    'Upgrade: x',
    'Transfer-Encoding: chunked',
    'Content-Length: 5',
    'Content-Length: -5',
    '5\r\nhello\r\n0\r\n\r\n',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const request = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map((parts) => parts.join('')),
  fc
    .tuple(
      fc.constantFrom('CONNECT ', 'GET ', 'GET http://'),
      fc.array(piece, { maxLength: 6 }),
      fc.constantFrom(' HTTP/1.1\r\nHost: a\r\n\r\n', ' HTTP/1.1\r\n\r\n'),
    )
    .map(([method, parts, rest]) => method + parts.join('') + rest),
);

describe('the parser of requests', () => {
  let bench: ProxyBench;
  beforeAll(async () => {
    bench = await openProxyBench({
      allow: ['one.example'],
      names: { 'one.example': ['10.0.0.1'], 'two.example': ['10.0.0.2'] },
    });
  });
  afterAll(() => bench.close());

  it('answers each of 10,000 requests by an error or by ending, resolves no other name, and lives on', async () => {
    await fc.assert(
      fc.asyncProperty(request, async (text) => {
        const socket = bench.connect();
        socket.end(Buffer.from(text, 'latin1'));
        const answer = await readAll(socket);
        expect(answer).toMatch(/^(?:HTTP\/1\.1 (?:400|403|502) |$)/);
      }),
      { numRuns: 10_000 },
    );
    expect(new Set(bench.asked)).toEqual(new Set(['one.example']));
    expect(bench.decisions.filter(({ allowed }) => allowed)).toEqual([]);
    expect(bench.decisions.filter(({ host }) => /[/?#\s]/.test(host) && host.length > 100)).toEqual([]);
  });

  it('takes a target for the host and port that a URL of it has, in 10,000 texts', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }).map((parts) => parts.join('')),
        (text) => {
          const connect = parseConnectTarget(text);
          const forward = parseForwardTarget(`http://${text}`);
          for (const target of [connect, forward]) {
            if (target === null) continue;
            expect(target.port >= 1 && target.port <= 65_535).toBe(true);
            const { hostname } = new URL(`http://${target === connect ? text.replace(/:\d+$/, '') : text}`);
            expect(hostname.replace(/^\[|\]$|\.$/g, '').replace(/^::ffff:7f00:1$/, '127.0.0.1')).toBe(target.host.text);
          }
        },
      ),
      { numRuns: 10_000 },
    );
  });

  it('reads the greeting of any 10,000 clients without failing', () => {
    const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
    const hello = bytes.map((body) => Buffer.concat([Buffer.from([22, 3, 1, 0, body.length % 256, 1, 0, 0]), body]));
    fc.assert(
      fc.property(fc.oneof(bytes, hello), (greeting) => {
        expect(['incomplete', 'other', 'tls']).toContain(readServerName(greeting).kind);
      }),
      { numRuns: 10_000 },
    );
  });
});
