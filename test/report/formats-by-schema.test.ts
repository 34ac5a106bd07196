import sarifSchema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import { DOMParser, type Element } from '@xmldom/xmldom';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Result } from '../../src/events/index.ts';
import { type ReportView, renderAttestation, renderJunit, renderSarif } from '../../src/report/index.ts';
import { WHOLE_RUN } from '../events/sample-events.ts';
import { ATTACKS, hostileBodies, viewOf } from './hostile-run.ts';

/** Views that hold every kind of finding, every state of a check, a log that broke off, and one without a line. */
async function views(): Promise<ReportView[]> {
  const whole: Partial<Result> = { outcome: 'policy_violation', exit_code: 12 };
  return Promise.all([
    ...ATTACKS.map((attack) => viewOf(hostileBodies(attack))),
    viewOf(hostileBodies('x', whole)),
    viewOf(WHOLE_RUN),
    viewOf(WHOLE_RUN.slice(0, -1)),
    viewOf([]),
  ]);
}

describe('renderSarif, by the schema of SARIF 2.1.0', () => {
  /** The schema speaks draft 04, of which it uses nothing that later drafts read otherwise; only its marks have to go. */
  const { $schema: _, id: __, ...schema } = sarifSchema;
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  ajv.addFormat('uri', (text) => URL.canParse(text));
  ajv.addFormat('uri-reference', /^[-\w.~:/?#[\]@!$&'()*+,;=%]*$/);
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  const check = ajv.compile(schema);
  const faultsOf = (sarif: unknown) => (check(sarif) ? [] : check.errors);

  it('is valid, whatever the log holds, also of one that broke off', async () => {
    for (const view of await views()) expect(faultsOf(JSON.parse(renderSarif(view)))).toEqual([]);
    const text = fc.string({ unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        expect(faultsOf(JSON.parse(renderSarif(await viewOf(hostileBodies(value)))))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('control: the schema refuses a level, a key and a place that it does not know', async () => {
    const sarif = JSON.parse(renderSarif(await viewOf(hostileBodies('x'))));
    const [first] = sarif.runs[0].results;
    for (const wrong of [
      { ...first, level: 'bad' },
      { ...first, more: 1 },
      { ...first, locations: [{ physicalLocation: { artifactLocation: { uri: 'a b' } } }] },
    ])
      expect(faultsOf({ ...sarif, runs: [{ ...sarif.runs[0], results: [wrong] }] })).not.toEqual([]);
  });
});

describe('renderAttestation, by the specification of in-toto Statement v1', () => {
  const digests = z
    .object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), gitTree: z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/) })
    .partial()
    .strict()
    .refine((set) => Object.keys(set).length > 0);
  const statement = z.strictObject({
    _type: z.literal('https://in-toto.io/Statement/v1'),
    subject: z
      .array(z.strictObject({ name: z.string().min(1), digest: digests }))
      .min(1)
      .refine((all) => new Set(all.map((one) => one.name)).size === all.length, 'each name is there once'),
    predicateType: z.string().refine((type) => URL.canParse(type), 'a type URI'),
    predicate: z.looseObject({}),
  });

  it('has these four fields, names of its own for each subject, and digests in lower-case hex', async () => {
    for (const attack of ATTACKS)
      expect(
        statement.safeParse(JSON.parse(renderAttestation(await viewOf(hostileBodies(attack))))).error,
      ).toBeUndefined();
  });
});

describe('renderJunit, by what Jenkins’ schema allows', () => {
  const counts = ['name', 'tests', 'failures', 'errors', 'time'];
  /**
   * Attributes and children of each element. One thing is beyond it: a case has `properties`, which CI systems take since they were needed.
   */
  const GRAMMAR: Record<string, { attributes: string[]; children: string[] }> = {
    testsuites: { attributes: counts, children: ['testsuite'] },
    testsuite: { attributes: [...counts, 'skipped', 'timestamp'], children: ['properties', 'testcase'] },
    testcase: {
      attributes: ['name', 'classname', 'time'],
      children: ['properties', 'skipped', 'error', 'failure', 'system-out'],
    },
    properties: { attributes: [], children: ['property'] },
    property: { attributes: ['name', 'value'], children: [] },
    failure: { attributes: ['message', 'type'], children: [] },
    error: { attributes: ['message', 'type'], children: [] },
    skipped: { attributes: ['message'], children: [] },
    'system-out': { attributes: [], children: [] },
  };

  function faultsOf(element: Element): string[] {
    const known = GRAMMAR[element.tagName];
    if (known === undefined) return [`<${element.tagName}>`];
    const attributes = [...element.attributes].map((one) => one.name);
    const children = [...element.childNodes].filter((one) => one.nodeType === one.ELEMENT_NODE) as Element[];
    return [
      ...attributes.filter((name) => !known.attributes.includes(name)).map((name) => `${element.tagName}@${name}`),
      ...children
        .filter((child) => !known.children.includes(child.tagName))
        .map((child) => `${element.tagName}>${child.tagName}`),
      ...children.flatMap(faultsOf),
    ];
  }

  it('has no other element or attribute, times in seconds, and counts that are true', async () => {
    const check = { ...hostileCheck, final: 'passed' } as const;
    const all = await viewOf(
      hostileBodies('x', {
        checks: [
          check,
          { ...check, final: 'skipped' },
          { ...check, final: 'timed_out' },
          { ...check, final: 'failed', required: false },
        ],
      }),
    );
    for (const view of [...(await views()), all]) {
      const root = new DOMParser().parseFromString(renderJunit(view), 'text/xml').documentElement;
      if (root === null) throw new Error('no document');
      expect([root.tagName, ...faultsOf(root)]).toEqual(['testsuites']);
      const [suite] = root.getElementsByTagName('testsuite');
      for (const [attribute, tag] of [
        ['tests', 'testcase'],
        ['failures', 'failure'],
        ['errors', 'error'],
        ['skipped', 'skipped'],
      ] as const)
        expect(Number(suite?.getAttribute(attribute)), tag).toBe(root.getElementsByTagName(tag).length);
      for (const timed of [suite, ...root.getElementsByTagName('testcase')])
        expect(timed?.getAttribute('time')).toMatch(/^\d+\.\d{3}$/);
    }
  });
});

const hostileCheck: Result['checks'][number] = {
  name: 'x',
  command: 'x',
  required: true,
  baseline: 'passed',
  final: 'passed',
  classification: 'passing',
  exit_code: 0,
  duration_ms: 5,
  output_sha256: null,
  output_tail: 'x',
  tests: null,
  reason: null,
};
