import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHostList, parseHost } from '../../src/policy/index.ts';

/** The entry that lets `host:port` through. */
function ruleFor(entries: readonly string[], written: string, port = 443): string | null {
  const host = parseHost(written);
  return host === null ? null : createHostList(entries).ruleFor(host, port);
}

describe('a list of hosts', () => {
  it.each([
    ['the name itself', ['a.example'], 'a.example', 443, 'a.example'],
    ['its other port', ['a.example'], 'a.example', 80, 'a.example'],
    ['no third port', ['a.example'], 'a.example', 22, null],
    ['the port named alone', ['a.example:8443'], 'a.example', 443, null],
    ['the port named', ['a.example:8443'], 'a.example', 8443, 'a.example:8443'],
    ['no name below', ['a.example'], 'x.a.example', 443, null],
    ['no name that only ends so', ['a.example'], 'ba.example', 443, null],
    ['a name below a pattern', ['*.a.example'], 'x.y.a.example', 443, '*.a.example'],
    ['not the apex of a pattern', ['*.a.example'], 'a.example', 443, null],
    ['not what only ends like a pattern', ['*.a.example'], 'xa.example', 443, null],
    ['any case and a last dot', ['A.Example.'], 'a.eXample.', 443, 'A.Example.'],
    ['a name in its own letters', ['bücher.example'], 'xn--bcher-kva.example', 443, 'bücher.example'],
    ['the first entry', ['b.example', 'a.example', '*.example'], 'a.example', 443, 'a.example'],
    ['nothing by an empty list', [], 'a.example', 443, null],
    ['an address that is listed', ['192.0.2.7'], '192.0.2.7', 443, '192.0.2.7'],
    ['no address by a pattern of names', ['*.0.0.1', '*.1'], '127.0.0.1', 443, null],
    ['IPv6 in any spelling', ['[2001:DB8:0:0::1]:99'], '[2001:db8::1]', 99, '[2001:DB8:0:0::1]:99'],
  ] as const)('lets through %s', (_what, entries, host, port, rule) => {
    expect(ruleFor(entries, host, port)).toBe(rule);
  });

  it.each([
    ...[
      '127.0.0.1',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7F.1',
      '0177.0.0.1',
      '017700000001',
      '127.0.0.1.',
    ],
    ...['[::ffff:127.0.0.1]', '[::FFFF:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '１２７.0.0.1', '127。0。0。1'],
  ])('knows the address in %s', (spelling) => {
    expect(parseHost(spelling)).toEqual({ kind: 'address', text: '127.0.0.1' });
    expect(ruleFor(['a.example', '*.example'], spelling)).toBeNull();
    expect(ruleFor(['127.0.0.1'], spelling)).toBe('127.0.0.1');
  });

  it.each([
    ...[
      '',
      '.',
      '..',
      'a..b',
      'a.example..',
      '*',
      '*.a.example',
      'a b',
      'a/b',
      'a@b',
      'a:b',
      'a%2eb',
      'a\\b',
      'a\0b',
      'a\tb',
    ],
    ...[
      '1.2.3.256',
      '1.2.3.4.5',
      '[::1',
      '::1',
      '[fe80::1%25eth0]',
      '[::g]',
      'a#b',
      'a?b',
      `${'a'.repeat(64)}.example`,
    ],
    `${'a.'.repeat(130)}example`,
  ])('takes %j for no host', (written) => {
    expect(parseHost(written)).toBeNull();
  });

  /** Characters that parsers disagree on are frequent. */
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom(...'abexample.-_:@/\\#?%[]0123456789xXfF*'),
      fc.constantFrom('。', '\u00ad', '\u200b', 'ℯ', '\t', '\0', '٣'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
    maxLength: 40,
  });

  it('lets no text through but what is the name or lies below it, in 10,000 attempts', () => {
    const list = createHostList(['a.example', '*.b.example', '10.1.2.3']);
    const near = fc
      .tuple(hostile, fc.constantFrom('a.example', 'b.example', '10.1.2.3', 'x.b.example'), hostile)
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(hostile, near), (written) => {
        const host = parseHost(written);
        if (host === null) return;
        expect(parseHost(host.text.includes(':') ? `[${host.text}]` : host.text)).toEqual(host);
        expect(host.text).toMatch(host.kind === 'name' ? /^[a-z0-9_.-]{1,253}$/ : /^[0-9.]{7,15}$|^[0-9a-f:.]{2,45}$/);
        const rule = list.ruleFor(host, 443);
        const expected =
          host.text === 'a.example' || /^(?:[a-z0-9_-]+\.)+b\.example$/.test(host.text) || host.text === '10.1.2.3';
        expect(rule !== null).toBe(expected);
      }),
      { numRuns: 10_000 },
    );
  });
});
