import { expect, it } from 'vitest';
import { explainHost, renderHostExplanation } from '../../src/policy/index.ts';
import { loadText } from './policy-of.ts';

const TEXT = `version: 1
sandbox: {network: {allow: ["*.one.example"]}}
setup: [{run: npm ci, network: {allow: ["registry.example:8443"]}}, {run: make, network: none}]
verify: {checks: [{name: a, run: b}, {name: c, run: d, network: none}]}
`;

it('says for each kind of command which entry lets a connection through', async () => {
  const { policy } = await loadText(TEXT);
  const explained = explainHost('X.one.example:443', policy);
  expect(explained === null ? null : renderHostExplanation(explained)).toBe(`connect to x.one.example:443
  allow agent  (*.one.example)
  deny  setup "npm ci"  (no entry)
  deny  setup "make"  (network: none)
  allow check a  (*.one.example)
  deny  check c  (network: none)
`);
  expect(
    explainHost('registry.example:8443', policy)?.decisions.filter(({ decision }) => decision === 'allow'),
  ).toEqual([{ commands: 'setup "npm ci"', decision: 'allow', rule: 'registry.example:8443' }]);
  expect(explainHost('git push', policy)).toBeNull();
});
