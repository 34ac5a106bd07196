import { DOMParser } from '@xmldom/xmldom';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../src/events/index.ts';
import { renderAttestation, renderJunit, renderSarif } from '../../src/report/index.ts';
import { sampleResult, WHOLE_RUN } from '../events/sample-events.ts';
import { ATTACKS, hostileBodies, viewOf } from './hostile-run.ts';

interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
}

/** Every element of a document, by a parser that takes nothing but well-formed XML. */
function parseXml(xml: string): Element[] {
  const onError = (level: string, message: string) => {
    if (level !== 'warning') throw new Error(`${level}: ${message}`);
  };
  const document = new DOMParser({ onError }).parseFromString(xml, 'text/xml');
  return [...document.getElementsByTagName('*')].map((element) => ({
    name: element.tagName,
    attributes: Object.fromEntries([...element.attributes].map((one) => [one.name, one.value])),
    text: element.textContent ?? '',
  }));
}

const check = {
  name: 'tests',
  command: 'npm test',
  required: true,
  baseline: 'failed',
  final: 'passed',
  classification: 'fixed',
  exit_code: 0,
  duration_ms: 1_500,
  output_sha256: 'e'.repeat(64),
  output_tail: 'ok\n',
  tests: null,
  reason: null,
} as const;
const changes = {
  ...sampleResult().changes,
  files: [{ path: 'a b/ü.js', kind: 'update' as const, added: 1, removed: 0, binary: false }],
  patch_sha256: 'b'.repeat(64),
  base_commit: 'c'.repeat(40),
  tree: 'd'.repeat(40),
  tests: ['a b/ü.js'],
};
const verified: Partial<Result> = {
  outcome: 'verified',
  exit_code: 0,
  verified: true,
  evidence: 'fixed',
  checks: [check],
  changes,
};

describe('renderJunit', () => {
  it('has a case a check, with its state before the change, and one for the verdict', async () => {
    const optional = {
      ...check,
      name: 'lint',
      required: false,
      final: 'failed',
      classification: 'pre_existing',
    } as const;
    const slow = {
      ...check,
      name: 'slow',
      final: 'timed_out',
      classification: 'still_failing',
      reason: 'over its time',
    } as const;
    const red = { ...check, name: 'red', final: 'failed', classification: 'regressed', exit_code: 1 } as const;
    const view = await viewOf(hostileBodies('x', { ...verified, checks: [{ ...check }, optional, slow, red] }));
    const elements = parseXml(renderJunit(view));
    expect(elements.filter((one) => one.name === 'testcase').map((one) => one.attributes['name'])).toEqual([
      'tests',
      'lint',
      'slow',
      'red',
      'verdict',
    ]);
    expect(elements.find((one) => one.name === 'testsuite')?.attributes).toMatchObject({
      tests: '5',
      failures: '1',
      errors: '1',
      skipped: '1',
    });
    expect(elements.find((one) => one.name === 'error')?.attributes['message']).toBe('over its time; exit code 0');
    expect(
      elements
        .filter((one) => one.name === 'property' && one.attributes['name'] === 'baseline')
        .map((one) => one.attributes['value']),
    ).toEqual(['failed', 'failed', 'failed', 'failed']);
  });

  it('is red for a run that failed without a failing check, and for a broken log', async () => {
    const limited = await viewOf(hostileBodies('x', { outcome: 'limit_reached', exit_code: 11, checks: [] }));
    expect(parseXml(renderJunit(limited)).filter((one) => one.name === 'error')).toHaveLength(1);
    const cut = await viewOf(WHOLE_RUN.slice(0, -1));
    expect(parseXml(renderJunit(cut)).find((one) => one.name === 'error')?.text).toContain('no run.completed');
  });

  it.each(ATTACKS)('carries foreign text unharmed in well-formed XML: %j', async (attack) => {
    const elements = parseXml(renderJunit(await viewOf(hostileBodies(attack))));
    expect(
      elements.map((one) => one.name).filter((name) => !/^(testsuites?|testcase|propert(y|ies)|failure)$/.test(name)),
    ).toEqual([]);
    expect(elements.find((one) => one.name === 'testcase')?.attributes['name']).toContain('EVIL');
  });

  it('is well-formed whatever the texts are', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'<>&"\']]>\0\u001b\ud800\uffff\n\r\t ') }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (value) => void parseXml(renderJunit(await viewOf(hostileBodies(value))))),
      { numRuns: 100 },
    );
  });
});

describe('renderSarif', () => {
  it('tells denials, red checks, violations and areas under stable ids', async () => {
    const red = { ...check, final: 'failed', classification: 'regressed' } as const;
    const view = await viewOf(
      hostileBodies('x', {
        outcome: 'policy_violation',
        checks: [red],
        changes,
        denials: [
          { action: 'git push', rule: 'commands.deny', reason: 'no' },
          { action: 'git push', rule: 'commands.deny', reason: 'no' },
        ],
        review: [{ label: 'security', paths: ['auth/x.js'] }],
      }),
    );
    const [run] = JSON.parse(renderSarif(view)).runs;
    expect(run.results.map((one: { ruleId: string }) => one.ruleId)).toEqual([
      'belay/denied-action',
      'belay/denied-action',
      'belay/check-regressed',
      'belay/policy-violation',
      'belay/review-area',
      'belay/test-change',
    ]);
    expect(
      run.results.map(
        (one: { ruleIndex: number; ruleId: string }) => run.tool.driver.rules[one.ruleIndex].id === one.ruleId,
      ),
    ).not.toContain(false);
    const prints = run.results.map((one: { partialFingerprints: object }) => JSON.stringify(one.partialFingerprints));
    expect(new Set(prints).size, 'fingerprints tell the findings apart').toBe(prints.length);
    expect(run.results.at(-1).locations[0].physicalLocation.artifactLocation.uri).toBe('a%20b/%C3%BC.js');
    expect(renderSarif(view), 'the same log gives the same text').toBe(renderSarif(view));
  });

  it.each([
    'https://evil.example/x',
    '//evil.example/x',
    '../../etc/passwd',
    'file:///etc/passwd',
    'javascript:EVIL()',
  ])('never points out of the repository: %s', async (path) => {
    const view = await viewOf(hostileBodies('x', { review: [{ label: 'l', paths: [path] }] }));
    const uris: string[] = JSON.parse(renderSarif(view)).runs[0].results.map(
      (one: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }) =>
        one.locations[0]?.physicalLocation.artifactLocation.uri,
    );
    for (const uri of uris) {
      const at = new URL(uri, 'https://base.example/repository/');
      expect(at.href).toMatch(/^https:\/\/base\.example\/repository\//);
    }
  });
});

describe('renderAttestation', () => {
  it('states the digests of patch and tree, and how they came to be', async () => {
    const statement = JSON.parse(renderAttestation(await viewOf(hostileBodies('x', verified))));
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [
        { name: 'change.patch', digest: { sha256: 'b'.repeat(64) } },
        { name: 'tree', digest: { gitTree: 'd'.repeat(40) } },
      ],
      predicateType: 'urn:belay:attestation:run:v1',
      predicate: {
        verdict: { outcome: 'verified', verified: true, evidence: 'fixed' },
        goal: { digest: { sha256: 'a'.repeat(64) } },
        policy: { digest: { sha256: 'f'.repeat(64) } },
        base: { digest: { gitCommit: 'c'.repeat(40) }, dirty: false },
        checks: [{ name: 'tests', classification: 'fixed', output: { digest: { sha256: 'e'.repeat(64) } } }],
        log: { digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      },
    });
  });

  it('is refused for a broken log, a log without a verdict, and a run without a tree', async () => {
    const cut = await viewOf(WHOLE_RUN.slice(0, -1));
    expect(() => renderAttestation(cut)).toThrow(/broken log/);
    const early = await viewOf(hostileBodies('x', { changes: sampleResult().changes }));
    expect(() => renderAttestation(early)).toThrow(/nothing to attest/);
  });
});
