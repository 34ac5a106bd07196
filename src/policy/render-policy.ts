import { renderJson, toJson } from '../events/index.ts';
import { BUILT_IN_PROTECT, BUILT_IN_TESTS } from './built-in-lists.ts';
import type { LoadedPolicy, McpServer, NetworkAccess, Policy } from './policy.ts';
import { POLICY_KEYS } from './policy-origins.ts';
import { renderDuration, renderSize } from './quantity.ts';

/**
 * The effective policy. As text every value has its source after `#`, and all of it is a policy file that means the same (but that a
 * `cost_usd` is stated in it); as JSON the sources stand beside the policy, by dotted key.
 */
export function renderPolicy(loaded: LoadedPolicy, options: { format: 'text' | 'json' } = { format: 'text' }): string {
  if (options.format === 'json') return renderJson(policyView(loaded));
  const lines = [
    `# ${oneLine(loaded.source)}  sha256 ${loaded.sha256}${loaded.floorSha256 === null ? '' : `  floor sha256 ${loaded.floorSha256}`}`,
  ];
  renderMap({ lines, loaded }, policyJson(loaded.policy), { indent: '', path: '' });
  return `${lines.join('\n')}\n`;
}

function policyView(loaded: LoadedPolicy): Record<string, unknown> {
  return {
    source: loaded.source,
    sha256: loaded.sha256,
    floor_sha256: loaded.floorSha256,
    policy: policyJson(loaded.policy),
    origins: Object.fromEntries(loaded.origins),
  };
}

const BESIDE: ReadonlyMap<string, string> = new Map([
  [
    'workspace.protect',
    `in addition, unless \`!glob\` takes it out: the policy in use, ${BUILT_IN_PROTECT.join(', ')}`,
  ],
  ['workspace.tests', `\`default\` stands for: ${BUILT_IN_TESTS.join(' ')}`],
]);
const KEYS: ReadonlySet<string> = new Set(POLICY_KEYS);

function renderMap(
  out: { lines: string[]; loaded: LoadedPolicy },
  map: object,
  at: { indent: string; path: string },
): void {
  for (const [key, value] of Object.entries(map)) {
    const path = at.path === '' ? key : `${at.path}.${key}`;
    if (typeof value === 'object' && value !== null && !KEYS.has(path)) {
      out.lines.push(`${at.indent}${key}:`);
      renderMap(out, value, { indent: `${at.indent}  `, path });
    } else if (path === 'limits.cost_usd' && !out.loaded.policy.limits.costIsExplicit) {
      // stated, it would make an unknown price an error
      out.lines.push(`${at.indent}# ${key}: ${flow(value)}  # default, where the price is known`);
    } else {
      out.lines.push(`${at.indent}${key}: ${flow(value)}  # ${oneLine(out.loaded.origins.get(path) ?? 'default')}`);
      const beside = BESIDE.get(path);
      if (beside !== undefined) out.lines.push(`${at.indent}# ${beside}`);
    }
  }
}

/** JSON is YAML; plain words go without their quotes. */
function flow(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_./-]*$/.test(value) && !/^(?:true|false|null)$/i.test(value)
    ? value
    : toJson(value).replace(/\p{C}/gu, escaped);
}

/** What a terminal must not get, as YAML's double quotes write it: the value stays what it is. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, '\uFFFD');
}

/** The policy as the file would say it. Keys without a value are left out. */
export function policyJson(policy: Policy): Record<string, unknown> {
  const { model, limits, workspace, sandbox, commands, verify, context, tools } = policy;
  return withoutNull({
    version: policy.version,
    model: model === null ? null : modelJson(model),
    limits: {
      turns: limits.turns,
      attempts: limits.attempts,
      wall_time: renderDuration(limits.wallTimeMs),
      command_time: renderDuration(limits.commandTimeMs),
      tokens: limits.tokens,
      cost_usd: limits.costUsd,
      tool_calls: limits.toolCalls,
      repeats: limits.repeats,
      output_bytes: limits.outputBytes,
      changed_files: limits.changedFiles,
      changed_lines: limits.changedLines,
    },
    workspace: {
      write: workspace.write,
      protect: workspace.protect.slice(BUILT_IN_PROTECT.length),
      hide: workspace.hide,
      tests: foldTests(workspace.tests),
      review: workspace.review,
      dependencies: workspace.dependencies,
      on_failure: workspace.onFailure,
    },
    sandbox: {
      mode: sandbox.mode,
      require: sandbox.require,
      network: networkJson(sandbox.network),
      env: sandbox.env,
      readable: sandbox.readable,
      services: sandbox.services,
      home: sandbox.home,
      memory: renderSize(sandbox.memoryBytes),
      processes: sandbox.processes,
      file_size: renderSize(sandbox.fileSizeBytes),
      disk: renderSize(sandbox.diskBytes),
      output: renderSize(sandbox.outputBytes),
    },
    commands,
    approvals: policy.approvals,
    setup: policy.setup.map((step) => ({
      run: step.run,
      network: networkJson(step.network),
      env: step.env,
      timeout: renderDuration(step.timeoutMs),
      retries: step.retries,
    })),
    services: policy.services.map(({ timeoutMs, ...service }) => ({ ...service, timeout: renderDuration(timeoutMs) })),
    verify: {
      ...(verify.checks.length > 0 || verify.checksDeclaredEmpty ? { checks: verify.checks.map(checkJson) } : {}),
      require: verify.require,
      clean_room: {
        carry: verify.cleanRoom.carry,
        freeze: verify.cleanRoom.freeze,
        pristine_tests: verify.cleanRoom.pristineTests,
      },
      holdout: verify.holdout,
      flaky_retries: verify.flakyRetries,
    },
    context: { instructions: context.instructions, soften_at: context.softenAt, compact_at: context.compactAt },
    tools,
    mcp: Object.fromEntries(Object.entries(policy.mcp).map(([name, server]) => [name, serverJson(server)])),
    plugins: policy.plugins,
  });
}

function modelJson(model: NonNullable<Policy['model']>): Record<string, unknown> {
  return withoutNull({
    provider: model.provider,
    name: model.name,
    api_key_env: model.apiKeyEnv,
    api_key_file: model.apiKeyFile,
    api_key_fd: model.apiKeyFd,
    api_key_command: model.apiKeyCommand,
    base_url: model.baseUrl,
    price:
      model.price === null
        ? null
        : withoutNull({ input: model.price.input, cached_input: model.price.cachedInput, output: model.price.output }),
    headers_env: model.headersEnv,
    api: model.provider === 'openai' ? model.api : null,
    reasoning_effort: model.reasoningEffort,
    context_window: model.contextWindow,
    request_timeout: renderDuration(model.requestTimeoutMs),
    retries: model.retries,
  });
}

function checkJson(check: Policy['verify']['checks'][number]): Record<string, unknown> {
  const { timeoutMs, expect, network, ...plain } = check;
  return withoutNull({
    ...plain,
    timeout: renderDuration(timeoutMs),
    network: network === null ? null : networkJson(network),
    expect: withoutNull({ matches: expect.matches, tests: expect.testsNotFewer ? 'not_fewer' : null }),
  });
}

function serverJson(server: McpServer): Record<string, unknown> {
  return server.url === null ? { command: server.command, args: server.args, env: server.env } : { url: server.url };
}

function networkJson(network: NetworkAccess): 'none' | { allow: readonly string[] } {
  return network.mode === 'none' ? 'none' : { allow: network.hosts };
}

/** The built-in list by its name where it stands whole. */
function foldTests(tests: readonly string[]): readonly string[] {
  const at = tests.indexOf(BUILT_IN_TESTS[0] ?? '');
  const isWhole = at >= 0 && BUILT_IN_TESTS.every((glob, index) => tests[at + index] === glob);
  return isWhole ? [...tests.slice(0, at), 'default', ...tests.slice(at + BUILT_IN_TESTS.length)] : tests;
}

function withoutNull(map: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null));
}
