import { BUILT_IN_PROTECT, BUILT_IN_TESTS, DEFAULT_HIDE } from './built-in-lists.ts';
import type {
  EnvironmentRules,
  Limits,
  McpServer,
  ModelPolicy,
  NetworkAccess,
  Policy,
  VerifyPolicy,
} from './policy.ts';
import type { PolicyFile } from './policy-file.ts';

const MINUTE_MS = 60_000;
type Section<Key extends keyof PolicyFile> = NonNullable<PolicyFile[Key]>;
type CheckFile = NonNullable<Section<'verify'>['checks']>[number];

/** Fills every default in. */
export function normalisePolicy(file: PolicyFile): Policy {
  const network = normaliseNetwork(file.sandbox?.network) ?? { mode: 'none' };
  return {
    version: 1,
    model: file.model === undefined ? null : normaliseModel(file.model),
    limits: normaliseLimits(file.limits ?? {}),
    workspace: normaliseWorkspace(file.workspace ?? {}),
    sandbox: normaliseSandbox(file.sandbox ?? {}, network),
    commands: {
      default: file.commands?.default ?? 'allow',
      deny: file.commands?.deny ?? [],
      ask: file.commands?.ask ?? [],
      allow: file.commands?.allow ?? [],
    },
    approvals: file.approvals ?? 'deny',
    setup: (file.setup ?? []).map((step) => ({
      run: step.run,
      network: normaliseNetwork(step.network) ?? network,
      env: normaliseEnvironment(step.env),
      timeoutMs: step.timeout ?? 10 * MINUTE_MS,
      retries: step.retries ?? 0,
    })),
    services: (file.services ?? []).map((service) => ({
      name: service.name,
      run: service.run,
      ready: service.ready,
      phases: service.phases ?? ['agent', 'verify'],
      timeoutMs: service.timeout ?? MINUTE_MS,
    })),
    verify: normaliseVerify(file.verify ?? {}),
    context: {
      instructions: file.context?.instructions ?? 'auto',
      softenAt: file.context?.soften_at ?? Math.min(0.6, file.context?.compact_at ?? 0.6),
      compactAt: file.context?.compact_at ?? 0.85,
    },
    tools: { edit: file.tools?.edit ?? 'auto', enable: file.tools?.enable ?? [], disable: file.tools?.disable ?? [] },
    mcp: Object.fromEntries(Object.entries(file.mcp ?? {}).map(([name, server]) => [name, normaliseMcpServer(server)])),
    plugins: file.plugins ?? [],
  };
}

function normaliseModel(model: Section<'model'>): ModelPolicy {
  const { input, output, cached_input: cachedInput } = model.price ?? {};
  return {
    provider: model.provider,
    name: model.name,
    apiKeyEnv: model.api_key_env ?? null,
    apiKeyFile: model.api_key_file ?? null,
    apiKeyFd: model.api_key_fd ?? null,
    apiKeyCommand: model.api_key_command ?? null,
    baseUrl: model.base_url ?? null,
    price: input === undefined || output === undefined ? null : { input, cachedInput: cachedInput ?? null, output },
    headersEnv: model.headers_env ?? {},
    api: model.api ?? 'responses',
    reasoningEffort: model.reasoning_effort ?? null,
    contextWindow: model.context_window ?? null,
    requestTimeoutMs: model.request_timeout ?? 5 * MINUTE_MS,
    retries: model.retries ?? 4,
  };
}

function normaliseLimits(limits: Section<'limits'>): Limits {
  return {
    turns: limits.turns ?? 40,
    attempts: limits.attempts ?? 3,
    wallTimeMs: limits.wall_time ?? 30 * MINUTE_MS,
    commandTimeMs: limits.command_time ?? 5 * MINUTE_MS,
    tokens: limits.tokens ?? 2_000_000,
    costUsd: limits.cost_usd ?? 5,
    costIsExplicit: limits.cost_usd !== undefined,
    toolCalls: limits.tool_calls ?? 200,
    repeats: limits.repeats ?? 3,
    outputBytes: limits.output_bytes ?? 16_384,
    changedFiles: limits.changed_files ?? 50,
    changedLines: limits.changed_lines ?? 2000,
  };
}

function normaliseWorkspace(workspace: Section<'workspace'>): Policy['workspace'] {
  const tests = workspace.tests ?? ['default'];
  return {
    write: workspace.write ?? ['**'],
    protect: [...BUILT_IN_PROTECT, ...(workspace.protect ?? [])],
    hide: workspace.hide ?? DEFAULT_HIDE,
    tests: tests.flatMap((glob) => (glob === 'default' ? BUILT_IN_TESTS : [glob])),
    review: workspace.review ?? [],
    dependencies: workspace.dependencies ?? 'report',
    onFailure: workspace.on_failure ?? 'restore',
  };
}

function normaliseSandbox(sandbox: Section<'sandbox'>, network: NetworkAccess): Policy['sandbox'] {
  return {
    mode: sandbox.mode ?? 'workspace-write',
    require: sandbox.require ?? 'any',
    network,
    env: { pass: sandbox.env?.pass ?? ['LANG', 'TZ'], set: sandbox.env?.set ?? { CI: '1' } },
    readable: sandbox.readable ?? [],
    services: sandbox.services ?? [],
    home: 'private',
    memoryBytes: sandbox.memory ?? 4 * 2 ** 30,
    processes: sandbox.processes ?? 512,
    fileSizeBytes: sandbox.file_size ?? 2 ** 30,
    diskBytes: sandbox.disk ?? 16 * 2 ** 30,
    outputBytes: sandbox.output ?? 4 * 2 ** 30,
  };
}

function normaliseVerify(verify: Section<'verify'>): VerifyPolicy {
  return {
    checks: (verify.checks ?? []).map(normaliseCheck),
    checksDeclaredEmpty: verify.checks?.length === 0,
    require: verify.require ?? 'any',
    cleanRoom: {
      carry: verify.clean_room?.carry ?? 'auto',
      freeze: verify.clean_room?.freeze ?? [],
      pristineTests: verify.clean_room?.pristine_tests ?? true,
    },
    holdout: (verify.holdout ?? []).map((entry) => (typeof entry === 'string' ? { from: entry, to: entry } : entry)),
    flakyRetries: verify.flaky_retries ?? 1,
  };
}

function normaliseCheck(check: CheckFile): VerifyPolicy['checks'][number] {
  return {
    name: check.name,
    run: check.run,
    timeoutMs: check.timeout ?? 10 * MINUTE_MS,
    required: check.required ?? true,
    before: check.before ?? 'any',
    when: check.when ?? 'both',
    workdir: check.workdir ?? null,
    env: normaliseEnvironment(check.env),
    network: normaliseNetwork(check.network),
    expect: { matches: check.expect?.matches ?? null, testsNotFewer: check.expect?.tests === 'not_fewer' },
  };
}

function normaliseNetwork(network: 'none' | { allow: readonly string[] } | undefined): NetworkAccess | null {
  if (network === undefined) return null;
  return network === 'none' || network.allow.length === 0 ? { mode: 'none' } : { mode: 'allow', hosts: network.allow };
}

function normaliseEnvironment(
  env: { pass?: string[] | undefined; set?: Record<string, string> | undefined } | undefined,
): EnvironmentRules {
  return { pass: env?.pass ?? [], set: env?.set ?? {} };
}

function normaliseMcpServer(server: Section<'mcp'>[string]): McpServer {
  if ('url' in server) return { command: null, args: [], env: normaliseEnvironment(undefined), url: server.url };
  return { command: server.command, args: server.args ?? [], env: normaliseEnvironment(server.env), url: null };
}
