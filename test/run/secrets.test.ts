import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chat, chatCall, type ScriptedServer, type Step, startScriptedServer } from '../model/scripted-server.ts';
import { type Bench, type CliEnd, commitAll, createBench, runCli } from '../scenario.ts';

// Built from parts, so that no scanner takes them for real ones; with characters that each spelling changes.
const KEY = ['key', 'of+the/model', 'a1b2c3d4e5f6=='].join('-');
const TOKEN = ['token', 'of setup&more', 'f6e5d4c3b2a1"é'].join('-');
const spellings = (text: string): string[] => {
  const bytes = Buffer.from(text);
  const json = JSON.stringify(text).slice(1, -1);
  const inText = Buffer.from(`x${text}y`).toString('base64');
  return [
    text,
    json,
    bytes.toString('base64'),
    inText,
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(text),
  ];
};
const SPELLINGS = [KEY, TOKEN].flatMap(spellings);
/** Of base64 within a longer text, what tells of the neighbours is left out. */
const SOUGHT = SPELLINGS.map((text) => (/^eG|^eHR/.test(text) ? text.slice(2, -4) : text));

/** What setup leaves for whoever comes after it: its token in each spelling, and a program that says it in small pieces. */
const SETUP = `mkdir -p cache && node spell.js > cache/spelt && printf '%s' "$SETUP_TOKEN" > "$HOME/.npmrc" && cat cache/spelt && cat cache/spelt >&2`;
const SPELL = `const b = Buffer.from(process.env.SETUP_TOKEN);
console.log([process.env.SETUP_TOKEN, b.toString('base64'), Buffer.from('x' + b).toString('base64'), b.toString('hex'), encodeURIComponent(b)].join('\\n'));`;
const PIECES = `node -e 'const b = require("fs").readFileSync("cache/spelt"); let i = 0; (function say() { if (i < b.length) process.stdout.write(b.subarray(i, i += 5), () => setImmediate(say)) })()'`;
const LOOK = `env; cat /proc/*/environ; cat /proc/*/cmdline; ulimit -c unlimited; sh -c 'kill -SEGV $$'; find / -name 'core*' -newer a.txt -type f 2>/dev/null | head; true`;

const call = (name: string, input: object): Step => chat(chatCall(name, JSON.stringify(input)), 'tool_calls');
const said = (text: string): string => `${text} ${SPELLINGS.join(' ')}`;
const shell = (command: string): Step => call('shell', { command });
const finish = call('finish', { status: 'done', summary: said('It is done.'), risks: [said('None.')] });
const STEPS: readonly Step[] = [
  chat(
    [
      { content: said('I know these:') },
      ...chatCall('shell', JSON.stringify({ command: `cat cache/spelt; ${PIECES}; cat ~/.npmrc` })),
    ],
    'tool_calls',
  ),
  call('read_file', { path: 'cache/spelt' }),
  call('search', { pattern: 'token', path: 'cache' }),
  shell(LOOK),
  call('update_plan', { steps: [{ text: said('Leak it.'), status: 'in_progress' }] }),
  call('write_file', { path: 'leak.txt', content: said('leak') }),
  shell(
    `cp cache/spelt copy.txt; echo '${KEY}' | xxd -r -p; echo "${KEY}" > key.txt; echo wrong > "$(head -1 cache/spelt | cut -c1-20)"; false`,
  ),
  finish,
];

let bench: Bench;
let server: ScriptedServer;
let end: CliEnd;
const later: CliEnd[] = [];
const at = (name: string): string => join(bench.io, name);

/** `source`: where the policy says that the model's key is. */
async function runWith(
  source: (keyFile: string) => object,
  { more, attempts }: { more: readonly Step[]; attempts: number },
): Promise<void> {
  const files = { 'a.txt': 'a\n', 'spell.js': SPELL, '.gitignore': 'cache/\n' };
  bench = createBench(files);
  server = await startScriptedServer([...STEPS, ...more]);
  const policy = {
    version: 1,
    model: {
      provider: 'openai-compatible',
      name: 'm',
      base_url: `${server.url}/v1`,
      ...source(join(bench.root, 'home/key')),
      context_window: 200_000,
      price: { input: 1, cached_input: 1, output: 1 },
    },
    tools: { edit: 'replace_text' },
    limits: { attempts },
    setup: [{ run: SETUP, env: { pass: ['SETUP_TOKEN'] } }],
    verify: {
      checks: [
        {
          name: 'says it',
          run: 'cat cache/spelt "$HOME/.npmrc"; cat cache/spelt >&2; grep -q fine a.txt',
          before: 'fail',
        },
      ],
    },
  };
  bench.write('belay.yml', JSON.stringify(policy));
  commitAll(bench);
  // Whatever belay starts by name finds this git first, which tells what it was given.
  bench.write(
    '../bin/git',
    `#!/bin/sh\n{ env; echo "$*"; } >> '${bench.root}/given'\nPATH=\${PATH#*:} exec /usr/bin/git "$@"\n`,
  );
  chmodSync(join(bench.root, 'bin/git'), 0o755);
  writeFileSync(at('context.md'), said('The user knows:'));
  const out = [
    '--events',
    at('events.jsonl'),
    '--result',
    at('result.json'),
    '--patch',
    at('change.patch'),
    '--message',
    at('message.txt'),
    '--record',
    at('record.jsonl'),
  ];
  writeFileSync(join(bench.root, 'home/key'), `${KEY}\n`, { mode: 0o600 });
  const env = { SETUP_TOKEN: TOKEN, PATH: `${bench.root}/bin:${process.env['PATH']}` };
  end = await runCli(['run', said('Fix it.'), '--context', at('context.md'), '--format', 'jsonl', ...out], bench, {
    env,
    fd3: join(bench.root, 'home/key'),
  });
  later.length = 0;
  for (const format of ['html', 'markdown', 'junit', 'sarif', 'attestation'])
    later.push(await runCli(['report', at('events.jsonl'), '--format', format, '-o', at(`report.${format}`)], bench));
  const thread = end.result?.thread_id ?? '';
  for (const args of [
    ['thread', 'show', thread],
    ['thread', 'export', thread, at('thread.tar')],
    ['audit', at('events.jsonl')],
  ])
    later.push(await runCli(args, bench));
}

/** Where a secret is, of everything that the run left, sent and said. What was put in, and the workspace, are the user's. */
function findings(): string[] {
  const texts = new Map<string, string>();
  for (const name of readdirSync(bench.root, { recursive: true, encoding: 'utf8' })) {
    if (/^(ws|bin)\//.test(name) || name === 'io/context.md' || name === 'home/key') continue;
    try {
      texts.set(name, `${name}\n${readFileSync(join(bench.root, name), 'utf8')}`);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EISDIR')) throw error;
    }
  }
  for (const [index, request] of server.requests.entries()) texts.set(`request ${index}`, request.raw);
  for (const [index, one] of [end, ...later].entries()) texts.set(`output ${index}`, `${one.stdout}\n${one.stderr}`);
  return [...texts].flatMap(([name, text]) =>
    SOUGHT.filter((spelling) => text.includes(spelling)).map((spelling) => `${name}: ${spelling}`),
  );
}

describe('known secrets, which setup spelt out for an agent that passes them on,', () => {
  afterAll(async () => {
    await server.close();
    bench.remove();
  });

  describe('in a run that is rejected', () => {
    beforeAll(() => runWith(() => ({ api_key_fd: 3 }), { more: [], attempts: 1 }));

    it('keep the change from leaving, which says so', () => {
      expect({ code: end.code, outcome: end.result?.outcome, reason: end.result?.reason }).toEqual({
        code: 12,
        outcome: 'policy_violation',
        reason: expect.stringMatching(/(leak|copy|key)\.txt holds a known secret, which would leave with the change/),
      });
    });

    it('are in nothing that it stored, reported, sent to the model or started', () => {
      const kept = [
        'events.jsonl',
        'result.json',
        'change.patch',
        'message.txt',
        'record.jsonl',
        'report.html',
        'report.sarif',
        'thread.tar',
      ];
      expect(readdirSync(bench.io)).toEqual(expect.arrayContaining(kept));
      for (const name of kept.slice(0, 6)) expect(readFileSync(at(name), 'utf8')).toContain('[redacted:');
      expect(readFileSync(join(bench.root, 'given'), 'utf8')).toContain('PATH=');
      expect(later.map(({ code }) => code)).toEqual(later.map(() => 0));
      expect(server.requests.length).toBeGreaterThanOrEqual(STEPS.length);
      expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
      expect(findings()).toEqual([]);
    });
  });
});

describe('known secrets that the agent takes out of its change again', () => {
  const repair = shell('rm -f leak.txt copy.txt key.txt token*; echo fine > a.txt');
  beforeAll(() =>
    runWith((keyFile) => ({ api_key_command: `cat ${keyFile}` }), { more: [repair, finish], attempts: 3 }),
  );
  afterAll(async () => {
    await server.close();
    bench.remove();
  });

  it('leave a verified change, and no trace', () => {
    expect({ code: end.code, reason: end.result?.reason }).toEqual({ code: 0, reason: expect.any(String) });
    expect(readFileSync(at('change.patch'), 'utf8')).toContain('+fine');
    expect(findings()).toEqual([]);
  });
});
