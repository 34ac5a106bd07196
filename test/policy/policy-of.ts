import { UsageError } from '../../src/errors.ts';
import { type LoadedPolicy, loadPolicy, type PolicySource } from '../../src/policy/index.ts';

export const textSource = (text: string, source = 'p.yml'): PolicySource => ({
  kind: 'text',
  bytes: Buffer.from(text),
  source,
});

export const loadText = (text: string, source?: string): Promise<LoadedPolicy> => loadPolicy(textSource(text, source));

/** The UsageError that an attempt ends with; anything else fails the test. */
export async function usageErrorOf(attempt: () => unknown): Promise<UsageError> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** Every key of section 4 with a value of its own. */
export const WHOLE_POLICY = `version: 1
model: {provider: openai, name: gpt-5.6, api_key_env: OPENAI_API_KEY, base_url: "https://gateway.example/v1", price: {input: 1.25, cached_input: 0.125, output: 10}, headers_env: {x-team: TEAM}, api: chat, reasoning_effort: medium, context_window: 200000, request_timeout: 5m, retries: 4}
limits: {turns: 41, attempts: 4, wall_time: 1h30m, command_time: 90s, tokens: 2000001, cost_usd: 5.00, tool_calls: 201, repeats: 4, output_bytes: 16KiB, changed_files: 51, changed_lines: 2001}
workspace:
  write: ["src/**", "*.md"]
  protect: ["deploy/**", "!.github/**"]
  hide: [".env", "secrets/**"]
  tests: ["first/**", default, "last.*"]
  review: [{paths: ["auth/**"], label: security}]
  dependencies: deny
  on_failure: keep
sandbox: {mode: read-only, require: bubblewrap, network: {allow: ["registry.npmjs.example", "*.example.org:443"]}, env: {pass: [LANG, TZ], set: {CI: "1", A: "x # y"}}, readable: [~/.cargo], services: ["127.0.0.1:5432"], home: private, memory: 1.5GiB, processes: 64, file_size: 512KiB, disk: 8GiB, output: 64MiB}
commands: {default: ask, deny: ["git push", "npm publish"], ask: ["terraform apply"], allow: ["npm test"]}
approvals: suspend
setup:
  - {run: "npm ci", network: none, env: {pass: [NPM_TOKEN]}, timeout: 10m, retries: 2}
services: [{name: api, run: "npm run dev", ready: "curl -sf localhost:3000", phases: [verify], timeout: 20s}]
verify:
  checks:
    - {name: tests, run: "npm test", timeout: 9m, required: false, before: fail, when: final, workdir: sub, env: {set: {B: "2"}}, network: none, expect: {matches: "^ok$", tests: not_fewer}}
    - {name: "types: all", run: "npx tsc"}
  require: fixed
  clean_room: {carry: [node_modules], freeze: [vendor], pristine_tests: false}
  holdout: [{from: ../hidden, to: test}, more]
  flaky_retries: 2
context: {instructions: none, soften_at: 0.50, compact_at: 0.80}
tools: {edit: replace_text, enable: [write_file], disable: [search]}
mcp: {local: {command: server, args: [--fast]}, remote: {url: "http://127.0.0.1:1/"}}
plugins: [./plugin.mjs]
`;
