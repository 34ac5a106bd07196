// Keeps the code that V8 makes of dist/belay.cjs for this Node: the program does a small run (a model on loopback, a throw-away
// repository), so that what a run needs is compiled, and its code is written beside it. Another Node takes the modules instead.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

const ANSWERS = [
  ['shell', { command: 'cat word.txt | tr a-z A-Z' }],
  ['read_file', { path: 'word.txt' }],
  ['replace_text', { path: 'word.txt', old_text: 'red', new_text: 'green' }],
  ['finish', { status: 'done', summary: 'The word is green.' }],
];

/** What a server of Chat Completions streams for one answer that calls one tool. */
function stream([name, input], id) {
  const call = { index: 0, id: `call_${id}`, type: 'function', function: { name, arguments: JSON.stringify(input) } };
  const chunk = (choice, rest = {}) =>
    `data: ${JSON.stringify({ id: `answer_${id}`, object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, ...choice }], ...rest })}\n\n`;
  const usage = { prompt_tokens: 900, completion_tokens: 20, total_tokens: 920 };
  return `${chunk({ delta: { role: 'assistant', tool_calls: [call] } })}${chunk({ delta: {}, finish_reason: 'tool_calls' }, { usage })}data: [DONE]\n\n`;
}

function policy(baseUrl, sandbox) {
  return `version: 1
model: {provider: openai-compatible, name: m, base_url: "${baseUrl}"}
limits: {turns: 10, wall_time: 2m}
sandbox: {mode: ${sandbox}}
commands: {deny: ["git push"]}
verify:
  checks:
    - {name: word, run: "grep -q green word.txt"}
`;
}

/** Writes the code beside `dist/belay.cjs`. Returns null, or why there is none: then every start takes the modules. */
export async function compile() {
  const scratch = mkdtempSync(join(tmpdir(), 'belay-compile-'));
  const dir = join(scratch, 'work');
  let answered = 0;
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(stream(ANSWERS[Math.min(answered, ANSWERS.length - 1)], answered));
      answered += 1;
    });
  });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${server.address().port}/v1`;
    mkdirSync(dir);
    const git = (...args) => execFileSync('git', ['-C', dir, ...args], { stdio: 'ignore' });
    git('init', '-q');
    writeFileSync(join(dir, 'word.txt'), 'red\n');
    git('add', '-A');
    git('-c', 'user.name=belay', '-c', 'user.email=belay@localhost', 'commit', '-qm', 'a word');
    let ended = null;
    for (const sandbox of ['workspace-write', 'off']) {
      answered = 0;
      writeFileSync(join(dir, 'policy.yml'), policy(url, sandbox));
      const child = spawn(
        process.execPath,
        [join(here, 'run-for-code.mjs'), 'run', 'make it green', '--policy', 'policy.yml'],
        {
          cwd: dir,
          env: { PATH: process.env.PATH, HOME: scratch },
          stdio: 'ignore',
        },
      );
      [ended] = await once(child, 'exit');
      if (ended === 0) return null;
    }
    return `the run to compile ended with exit code ${ended}`;
  } finally {
    server.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}
