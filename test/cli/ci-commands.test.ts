import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRunnerLog } from '../action/runner-log.ts';
import { type Bench, CLI, commitAll, createBench, writeCassette } from '../scenario.ts';

/** What a runner obeys, in lines of their own, behind blanks and what has no width, and in the middle of a line. */
const ATTACK = [
  '::error::forged',
  '  \u00a0::add-mask::a',
  '\u00ad::warning::b',
  '\r::set-output name=verified::true',
  'text ##[error]c',
].join('\n');
const NAME = 'x\n::error::name ##[warning]y';
const print = `printf '%s' ${JSON.stringify(ATTACK).replaceAll("'", '').replaceAll('\\n', '\n')}`;
const call = (name: string, input: object) => ({ tool_calls: [{ name, input }], text: ATTACK });
const answers = [
  call('shell', { command: `${print}; exit 1` }),
  call('shell', {
    command: `touch "$(printf 'x\\n::error::name ##[warning]y')" '::error::f ##[error]g'; echo 1 > a.txt`,
  }),
  call('::error::tool', {}),
  call('update_plan', { steps: [{ text: ATTACK, status: 'pending' }] }),
  call('finish', { status: 'done', summary: ATTACK, risks: [ATTACK] }),
];
const policy = (name: string) =>
  JSON.stringify({
    version: 1,
    limits: { attempts: 1 },
    verify: { flaky_retries: 0, checks: [{ name, run: `cat attack.txt; exit 1` }] },
  });

let bench: Bench;
let cassette: string;
beforeAll(() => {
  bench = createBench({ 'belay.yml': policy('::error::check ##[error]'), 'a.txt': 'a\n', 'attack.txt': ATTACK });
  commitAll(bench);
  cassette = writeCassette(bench, answers);
});
afterAll(() => bench.remove());

/** What a runner obeys of both streams. */
async function commandsOf(...args: string[]) {
  const { stdout, stderr } = await execa(process.execPath, [CLI, ...args], {
    ...{ cwd: bench.ws, env: bench.env, extendEnv: false, reject: false, stripFinalNewline: false },
  });
  expect(stdout.length + stderr.length, args.join(' ')).toBeGreaterThan(20);
  return readRunnerLog(`${stdout}\n${stderr}`).commands.map(({ name }) => name);
}

it('finds the attack in what it is given', () => {
  const { commands } = readRunnerLog(ATTACK.replace('\u00ad', ''));
  expect(commands.map(({ name }) => name)).toEqual([...['error', 'add-mask', 'warning', 'set-output', 'error']]);
});

it('no text of a model, a command, a file or a user is a command to a CI system, and JSON keeps its value', async () => {
  const events = join(bench.io, 'events.jsonl');
  const files = ['--replay', cassette, '--events', events];
  const jobs = join(bench.io, 'jobs.jsonl');
  writeFileSync(jobs, `${JSON.stringify({ id: 'a', goal: ATTACK })}\n`);
  writeFileSync(join(bench.io, NAME), 'version: 2\n');
  const first = await commandsOf('run', ATTACK, '--format', 'text', ...files);
  const [thread = ''] = readdirSync(join(bench.root, 'state/belay/threads'));
  const other = join(bench.io, 'other.jsonl');
  writeFileSync(other, readFileSync(events, 'utf8').replaceAll('forged', 'gegorfd'));
  const jsonl = await commandsOf('run', ATTACK, '--format', 'jsonl', ...files);
  const verify = await commandsOf('verify', '--format', 'text');
  const found: Record<string, string[]> = { first, jsonl, verify };
  const others = [
    ['run', 'go', '--policy', join(bench.io, NAME)],
    ['run', 'go', '--policy', `/nowhere/${NAME}`],
    ['run', 'go', `--${NAME}`],
    [NAME],
    ['batch', jobs, '--replay', cassette, '--format', 'text'],
    ['batch', `/nowhere/${NAME}`],
    ['thread', 'show', thread],
    ['thread', 'show', thread, '--json'],
    ['thread', 'show', thread, '--request', '2'],
    ['thread', 'show', thread, '--request', '2', '--json'],
    ['thread', 'list', '--json'],
    ['thread', NAME],
    ['replay', other, '--format', 'text'],
    ['audit', other],
    ...['markdown', 'html', 'junit', 'sarif', 'attestation'].map((format) => ['report', events, '--format', format]),
    ['policy', 'show'],
    ['policy', 'explain', ATTACK],
    ['policy', 'explain', ATTACK, '--json'],
    ['policy', 'check', join(bench.io, NAME)],
    ['schema', NAME],
    ['doctor', '--workspace', `/nowhere/${NAME}`],
  ];
  const tell = async (args: readonly string[]) => {
    found[args.join(' ')] = await commandsOf(...args);
  };
  await Promise.all(others.map(tell));
  expect(Object.fromEntries(Object.entries(found).filter(([, commands]) => commands.length > 0))).toEqual({});
  const said = readFileSync(events, 'utf8').trimEnd().split('\n');
  const texts = said
    .map((line) => JSON.parse(line))
    .flatMap(({ item }) => (item?.type === 'agent_message' ? item.text : []));
  expect(texts).toContain(ATTACK);
});
