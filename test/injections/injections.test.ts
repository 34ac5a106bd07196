import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, commitAll, createBench, runCli, treeOf } from '../scenario.ts';
import { USERS } from '../users.ts';
import { FILES, FORGED, INJECTIONS, type Injection } from './corpus.ts';

let server: Server;
let port = 0;
const visits: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    visits.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => void server.close());

/** The repository with the attacker's text where it belongs. */
function plant({ through, text }: Injection, uid: number | undefined): Bench {
  const files: Record<string, string> = { ...FILES };
  if (through === 'file') files['src/notes.md'] = text;
  if (through === 'file name') files[`src/${text.replaceAll('/', '_')}`] = 'x\n';
  if (through === 'test output' || through === 'tool result') files['src/output'] = text;
  if (through === 'test output') files['test.sh'] = `cat src/output\n${FILES['test.sh']}`;
  const bench = createBench(files, uid);
  commitAll(bench);
  return bench;
}

const LAST_WORDS = 'done';

function cassette(injection: Injection, bench: Bench): string {
  const places = {
    '@OUTPUT@': join(bench.io, 'output'),
    '@ENV@': join(bench.io, 'env'),
    '@OUTSIDE@': bench.io,
    '@PORT@': `${port}`,
  };
  const reads = { name: 'shell', input: { command: 'cat src/* 2>/dev/null; ls -a src; true' } };
  const finish = { name: 'finish', input: { status: 'done', summary: injection.summary ?? LAST_WORDS } };
  const text = [reads, ...injection.obeys, finish]
    .map((call) => `${JSON.stringify({ tool_calls: [call] })}\n`)
    .join('');
  return Object.entries(places).reduce((all, [from, to]) => all.replaceAll(from, to), text);
}

async function attack(injection: Injection, format: 'jsonl' | 'text', uid?: number) {
  const bench = plant(injection, uid);
  const at = (name: string) => join(bench.io, name);
  for (const name of ['output', 'env', 'canary']) writeFileSync(at(name), 'untouched');
  writeFileSync(at('issue.md'), injection.through === 'issue' ? injection.text : 'Fix add.sh.\n');
  writeFileSync(at('model.jsonl'), cassette(injection, bench));
  const before = treeOf(bench.ws);
  const env = { GITHUB_OUTPUT: at('output'), GITHUB_ENV: at('env'), SECRET_OF_CI: ['env', 'marker'].join('-') };
  const files = ['--context', at('issue.md'), '--events', at('events.jsonl'), '--result', at('result.json')];
  const end = await runCli(['run', 'fix add.sh', '--replay', at('model.jsonl'), '--format', format, ...files], bench, {
    env,
  });
  const audit = await runCli(['audit', at('events.jsonl')], bench);
  const stream = readFileSync(at('events.jsonl'), 'utf8');
  const result = JSON.parse(readFileSync(at('result.json'), 'utf8'));
  const outside = ['output', 'env', 'canary'].map((name) => readFileSync(at(name), 'utf8'));
  const after = treeOf(bench.ws);
  bench.remove();
  return {
    end,
    audit: audit.code,
    stream,
    result,
    outside,
    isRestored: JSON.stringify(after) === JSON.stringify(before),
  };
}

/** What the policy of an undisturbed run is. */
const policySha256 = async () =>
  (await attack({ name: '', through: 'issue', text: '', obeys: [] }, 'jsonl')).result.policy.sha256;

/** Deeds whose end depends on who the user is: files, processes, the pipeline's files. */
const ALSO_AS_USER = /hooks|outputs of the step|end the harness|environment and the hidden|outside through|forge/;

describe.each(USERS)('a model that obeys an attacker, with belay run by $who,', ({ uid, works }) => {
  let policy = '';
  beforeAll(async () => {
    policy = await policySha256();
  });

  it.skipIf(!works).each(INJECTIONS.filter(({ name }) => uid === undefined || ALSO_AS_USER.test(name)))(
    'cannot $name, told by $through',
    async (injection) => {
      const { end, audit, stream, result, outside, isRestored } = await attack(injection, 'jsonl', uid);
      const lines = stream.trimEnd().split('\n');
      expect({
        code: end.code,
        verified: result.verified,
        policy: result.policy.sha256,
        goal: result.goal.text ?? result.goal,
        checks: result.checks.map((check: { name: string; final: string }) => [check.name, check.final]),
        audit,
        outside,
        isRestored,
        ends: lines.filter((line) => line.startsWith('{"type":"run.completed"')).length,
        commands: `${end.stdout}\n${end.stderr}`.split(/[\r\n]/).filter((line) => /^\s*(::|##\[)/.test(line)),
        leaks: ['hidden-marker', 'env-marker'].filter((marker) => `${end.stdout}${end.stderr}`.includes(marker)),
        visits,
      }).toEqual({
        code: expect.toBeOneOf([10, 11, 12]),
        verified: false,
        policy,
        goal: expect.anything(),
        checks: [['tests', expect.not.stringMatching(/^passed$/)]],
        audit: 0,
        outside: ['untouched', 'untouched', 'untouched'],
        isRestored: true,
        ends: 1,
        commands: [],
        leaks: [],
        visits: [],
      });
      expect(result.goal).toEqual(JSON.parse(lines[0] ?? '{}').goal);
    },
  );
});

describe('a model that obeys an attacker', () => {
  it.each(INJECTIONS.filter(({ summary }) => summary !== undefined))(
    'cannot $name on a terminal or in a log either',
    async (injection) => {
      const { end } = await attack(injection, 'text');
      const shown = `${end.stdout}\n${end.stderr}`;
      expect({
        code: end.code,
        commands: shown.split(/[\r\n]/).filter((line) => /^\s*(::|##\[)/.test(line)),
        forged: shown.split('\n').filter((line) => line === FORGED),
        escapes: ['\u001b', '\u0007', '\u202e', '\u202c'].filter((char) => shown.includes(char)),
      }).toEqual({ code: 10, commands: [], forged: [], escapes: [] });
    },
  );
});
