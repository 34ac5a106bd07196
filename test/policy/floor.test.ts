import { expect, test } from 'vitest';
import { BUILT_IN_PROTECT, loadPolicy } from '../../src/policy/index.ts';
import { POLICY_KEYS } from '../../src/policy/policy-origins.ts';
import { loadText, textSource, usageErrorOf } from './policy-of.ts';

const MODEL = 'model: {provider: openai, name: x';

const under = (floor: string, own: string) =>
  loadPolicy(textSource(`version: 1\n${own}\n`), { floor: textSource(`version: 1\n${floor}\n`, 'floor.yml') });

const CONFLICTS: readonly (readonly [floor: string, own: string])[] = [
  ['limits: {attempts: 2}', 'limits: {attempts: 3}'],
  ['limits: {wall_time: 5m}', 'limits: {wall_time: 6m}'],
  ['limits: {command_time: 1m}', 'limits: {command_time: 2m}'],
  ['limits: {tokens: 1000}', 'limits: {tokens: 1001}'],
  ['limits: {tool_calls: 5}', 'limits: {tool_calls: 6}'],
  ['limits: {repeats: 2}', 'limits: {repeats: 3}'],
  ['limits: {output_bytes: 4096}', 'limits: {output_bytes: 8192}'],
  ['limits: {changed_files: 5}', 'limits: {changed_files: 6}'],
  ['limits: {changed_lines: 5}', 'limits: {changed_lines: 6}'],
  ['sandbox: {services: []}', 'sandbox: {services: ["127.0.0.1:5432"]}'],
  ['sandbox: {processes: 10}', 'sandbox: {processes: 11}'],
  ['sandbox: {file_size: 1MiB}', 'sandbox: {file_size: 2MiB}'],
  ['sandbox: {disk: 1MiB}', 'sandbox: {disk: 2MiB}'],
  ['sandbox: {output: 1MiB}', 'sandbox: {output: 2MiB}'],
  ['sandbox: {env: {pass: []}}', 'verify: {checks: [{name: a, run: b, env: {pass: [TOKEN]}}]}'],
  ['context: {instructions: none}', 'context: {instructions: auto}'],
  [`${MODEL}, base_url: "https://a.example"}`, `${MODEL}, base_url: "https://b.example"}`],
  [`${MODEL}, api_key_env: A_KEY}`, `${MODEL}, api_key_env: B_KEY}`],
  [`${MODEL}, api_key_env: A_KEY}`, `${MODEL}, api_key_command: steal}`],
  [`${MODEL}, api_key_file: a}`, `${MODEL}, api_key_file: b}`],
  [`${MODEL}, api_key_fd: 3}`, `${MODEL}, api_key_fd: 4}`],
  [`${MODEL}, api_key_command: a}`, `${MODEL}, api_key_command: b}`],
  [`${MODEL}, headers_env: {x-a: A}}`, `${MODEL}, headers_env: {x-a: B}}`],
  [`${MODEL}, price: {input: 1, output: 1}}`, `${MODEL}, price: {input: 0, output: 0}}`],
  [`${MODEL}, request_timeout: 1m}`, `${MODEL}, request_timeout: 2m}`],
  [`${MODEL}, retries: 1}`, `${MODEL}, retries: 2}`],
  ['limits: {turns: 10}', 'limits: {turns: 11}'],
  ['limits: {cost_usd: 1}', 'limits: {cost_usd: 2}'],
  ['workspace: {write: [src/**]}', 'workspace: {write: [src/**, docs/**]}'],
  ['workspace: {protect: [deploy/**]}', 'workspace: {protect: ["!deploy/**"]}'],
  ['workspace: {hide: [keys/**]}', 'workspace: {hide: [.env]}'],
  ['workspace: {hide: [keys/**]}', 'workspace: {hide: [keys/**, "!keys/a"]}'],
  ['workspace: {tests: [default]}', 'workspace: {tests: []}'],
  ['workspace: {dependencies: deny}', 'workspace: {dependencies: report}'],
  ['workspace: {on_failure: restore}', 'workspace: {on_failure: keep}'],
  ['sandbox: {mode: workspace-write}', 'sandbox: {mode: "off"}'],
  ['sandbox: {require: bubblewrap}', 'sandbox: {require: landlock}'],
  ['sandbox: {network: none}', 'sandbox: {network: {allow: [a.example]}}'],
  ['sandbox: {network: {allow: ["*.a.example"]}}', 'sandbox: {network: {allow: [a.example]}}'],
  ['sandbox: {network: {allow: ["a.example:8443"]}}', 'sandbox: {network: {allow: [a.example]}}'],
  ['setup: []', 'setup: [{run: x, network: {allow: [a.example]}}]'],
  ['workspace: {protect: []}', 'workspace: {protect: ["!.github/**"]}'],
  ['verify: {holdout: [{from: a, to: test}]}', 'verify: {holdout: [{from: b, to: ./test/unit}]}'],
  ['verify: {holdout: [{from: a, to: test/unit}]}', 'verify: {holdout: [{from: b, to: "test/**"}]}'],
  ['sandbox: {network: none}', 'verify: {checks: [{name: a, run: b, network: {allow: [a.example]}}]}'],
  ['sandbox: {env: {pass: []}}', 'sandbox: {env: {pass: [TOKEN]}}'],
  ['sandbox: {readable: []}', 'sandbox: {readable: [/opt]}'],
  ['sandbox: {memory: 1GiB}', 'sandbox: {memory: 2GiB}'],
  ['commands: {default: deny}', 'commands: {default: allow}'],
  ['commands: {allow: [make]}', 'commands: {allow: [make, curl]}'],
  ['approvals: deny', 'approvals: suspend'],
  ['setup: []', 'setup: [{run: x, env: {pass: [TOKEN]}}]'],
  ['verify: {checks: [{name: a, run: b}]}', 'verify: {checks: [{name: a, run: "true"}]}'],
  ['verify: {require: fixed}', 'verify: {require: kept}'],
  ['verify: {clean_room: {pristine_tests: true}}', 'verify: {clean_room: {pristine_tests: false}}'],
  ['verify: {clean_room: {carry: []}}', 'verify: {clean_room: {carry: [dist]}}'],
  ['verify: {flaky_retries: 0}', 'verify: {flaky_retries: 1}'],
  ['tools: {enable: []}', 'tools: {enable: [write_file]}'],
  ['services: []', 'services: [{name: a, run: b, ready: c}]'],
  ['mcp: {}', 'mcp: {a: {command: b}}'],
  ['plugins: []', 'plugins: [a]'],
  ['model: {provider: openai, name: x}', 'model: {provider: anthropic, name: x}'],
];

test.each(CONFLICTS)('under the floor `%s`, `%s` is an error with both places', async (floor, own) => {
  const error = await usageErrorOf(() => under(floor, own));
  expect(error.code).toBe('policy_floor');
  expect(error.message).toMatch(/^p\.yml(?::2:\d+| \(default\)): `[a-z_.]+` is looser than .* floor\.yml:2:\d+; /);
  await under(own, own);
});

test('what the repository does not state takes the stricter of default and floor', async () => {
  const { policy, origins, floorSha256 } = await under(
    'limits: {turns: 10, tokens: 9000000}\nsandbox: {mode: read-only}\ncommands: {deny: [git push]}\nworkspace: {hide: [keys], protect: [deploy]}',
    'limits: {attempts: 2}',
  );
  expect([policy.limits.turns, policy.limits.tokens, policy.limits.attempts]).toEqual([10, 2_000_000, 2]);
  expect([policy.sandbox.mode, policy.commands.deny]).toEqual(['read-only', ['git push']]);
  expect(policy.workspace.hide).toEqual(expect.arrayContaining(['.env', 'keys']));
  expect(policy.workspace.protect).toEqual([...BUILT_IN_PROTECT, 'deploy']);
  expect([origins.get('limits.turns'), origins.get('limits.tokens'), origins.get('limits.attempts')]).toEqual([
    'floor',
    'default',
    'p.yml:2:10',
  ]);
  expect(floorSha256).toMatch(/^[0-9a-f]{64}$/);
});

test('lists that forbid and checks are joined', async () => {
  const { policy } = await under(
    'commands: {deny: [git push]}\nverify: {checks: [{name: a, run: b}], holdout: [test]}\ntools: {disable: [search]}',
    'commands: {deny: [make, git push]}\nverify: {checks: [{name: c, run: d}], holdout: [tests]}\ntools: {disable: [shell]}',
  );
  expect(policy.commands.deny).toEqual(['git push', 'make']);
  expect(policy.verify.checks.map(({ name }) => name)).toEqual(['a', 'c']);
  expect(policy.verify.holdout.map(({ to }) => to)).toEqual(['test', 'tests']);
  expect(new Set(policy.tools.disable)).toEqual(new Set(['search', 'shell']));
});

test('a floor that states nothing changes nothing but the digest', async () => {
  const own = await loadText('version: 1\nsandbox: {mode: "off"}\n\n'.slice(0, -1));
  const both = await under('', 'sandbox: {mode: "off"}');
  expect(both.policy).toEqual(own.policy);
});

test('every conflict is named', async () => {
  const error = await usageErrorOf(() => under('limits: {turns: 1, attempts: 1}', 'limits: {turns: 2, attempts: 2}'));
  expect(error.message.split('\n')).toHaveLength(2);
  expect(error.position).toEqual({ file: 'p.yml', line: 2, column: 10 });
});

/** Keys without a stricter value, and those whose lists are joined instead: «lists that forbid and checks are joined». */
const NO_CONFLICT: readonly string[] = [
  ...['model.name', 'model.api', 'model.reasoning_effort', 'model.context_window'],
  ...['sandbox.env.set', 'sandbox.home', 'context.soften_at', 'context.compact_at', 'tools.edit'],
  ...['workspace.review', 'commands.deny', 'commands.ask', 'verify.clean_room.freeze', 'tools.disable'],
];

test('every key of a policy has a conflict in the table, or no stricter value', () => {
  const keyOf = (text: string): string[] =>
    POLICY_KEYS.filter((key) => {
      const [part = '', field] = key.split('.').filter((name) => !['env', 'clean_room'].includes(name));
      const last = key.split('.').at(-1) ?? '';
      return text.startsWith(`${part}:`) && (field === undefined || new RegExp(`[{ ,]${last}:`).test(text));
    });
  const tried = new Set(CONFLICTS.flatMap(([floor]) => keyOf(floor)));
  expect(POLICY_KEYS.filter((key) => !tried.has(key) && !NO_CONFLICT.includes(key))).toEqual([]);
  expect(NO_CONFLICT.filter((key) => !POLICY_KEYS.some((other) => other === key))).toEqual([]);
});

test('what only the floor states of the model counts, and a freeze adds to the own ones', async () => {
  const { policy } = await under(
    `${MODEL}, api_key_env: A_KEY, base_url: "https://a.example", retries: 1}\nverify: {clean_room: {freeze: [vendor]}}`,
    `${MODEL}}\nverify: {checks: [], clean_room: {freeze: [node_modules]}}`,
  );
  expect(policy.model).toMatchObject({ apiKeyEnv: 'A_KEY', baseUrl: 'https://a.example', retries: 1 });
  expect(policy.verify.cleanRoom.freeze).toEqual(['vendor', 'node_modules']);
});
