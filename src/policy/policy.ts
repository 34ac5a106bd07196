/** The validated policy, in belay's own terms: every default filled in, every unit in its name. See `policy-file.ts` for the file. */

export type NetworkAccess = { mode: 'none' } | { mode: 'allow'; hosts: readonly string[] };

export interface EnvironmentRules {
  /** Names taken from the harness's environment when they are set there. */
  pass: readonly string[];
  set: Readonly<Record<string, string>>;
}

export interface ModelPolicy {
  /** openai | anthropic | google | openai-compatible | replay | an AI SDK provider package. */
  provider: string;
  name: string;
  apiKeyEnv: string | null;
  apiKeyFile: string | null;
  /** A file descriptor that the key is read from once. */
  apiKeyFd: number | null;
  /** Shell words of a program that prints a short-lived key. */
  apiKeyCommand: string | null;
  baseUrl: string | null;
  /** USD per million tokens. */
  price: { input: number; cachedInput: number | null; output: number } | null;
  /** Header → name of the environment variable with its value. */
  headersEnv: Readonly<Record<string, string>>;
  api: 'responses' | 'chat';
  reasoningEffort: string | null;
  /** Tokens; null: from the table of known models. */
  contextWindow: number | null;
  /** Idle time between stream chunks. */
  requestTimeoutMs: number;
  retries: number;
}

export interface Limits {
  turns: number;
  attempts: number;
  wallTimeMs: number;
  commandTimeMs: number;
  tokens: number;
  /** `explicit`: the policy or an option names it, so that an unknown price is an error. */
  costUsd: number;
  costIsExplicit: boolean;
  toolCalls: number;
  repeats: number;
  outputBytes: number;
  changedFiles: number;
  changedLines: number;
}

export interface WorkspacePolicy {
  write: readonly string[];
  /** The built-in list with the policy's own; `!glob` entries are kept in order. */
  protect: readonly string[];
  hide: readonly string[];
  /** `default` already replaced by the built-in list. */
  tests: readonly string[];
  review: readonly { paths: readonly string[]; label: string }[];
  dependencies: 'deny' | 'report' | 'allow';
  onFailure: 'restore' | 'keep';
}

export interface SandboxPolicy {
  mode: 'read-only' | 'workspace-write' | 'off';
  require: 'any' | 'bubblewrap' | 'landlock' | 'seatbelt' | 'external';
  network: NetworkAccess;
  env: EnvironmentRules;
  readable: readonly string[];
  /** `host:port` of the host that is reachable from inside. */
  services: readonly string[];
  home: 'private';
  memoryBytes: number;
  processes: number;
  fileSizeBytes: number;
  diskBytes: number;
  outputBytes: number;
}

export type Decision = 'allow' | 'ask' | 'deny';

export interface CommandRules {
  default: Decision;
  deny: readonly string[];
  ask: readonly string[];
  allow: readonly string[];
}

export interface SetupStep {
  run: string;
  network: NetworkAccess;
  env: EnvironmentRules;
  timeoutMs: number;
  retries: number;
}

export interface Service {
  name: string;
  run: string;
  ready: string;
  phases: readonly ('agent' | 'verify')[];
  timeoutMs: number;
}

export interface Check {
  name: string;
  run: string;
  timeoutMs: number;
  required: boolean;
  before: 'any' | 'pass' | 'fail';
  when: 'attempt' | 'final' | 'both';
  /** Relative to the workspace; null: the workspace. */
  workdir: string | null;
  env: EnvironmentRules;
  /** null: the sandbox's own. */
  network: NetworkAccess | null;
  expect: { matches: string | null; testsNotFewer: boolean };
}

export interface Holdout {
  /** As written: outside the workspace, relative to the policy file. */
  from: string;
  /** Inside the clean room, relative to the workspace. */
  to: string;
}

export interface VerifyPolicy {
  checks: readonly Check[];
  /** The policy itself says `checks: []`. */
  checksDeclaredEmpty: boolean;
  require: 'any' | 'kept' | 'fixed';
  cleanRoom: { carry: 'auto' | readonly string[]; freeze: readonly string[]; pristineTests: boolean };
  holdout: readonly Holdout[];
  flakyRetries: number;
}

export interface McpServer {
  command: string | null;
  args: readonly string[];
  env: EnvironmentRules;
  url: string | null;
}

export interface Policy {
  version: 1;
  /** null: no model in the policy (only `--replay` or `--model` can run). */
  model: ModelPolicy | null;
  limits: Limits;
  workspace: WorkspacePolicy;
  sandbox: SandboxPolicy;
  commands: CommandRules;
  approvals: 'deny' | 'suspend';
  setup: readonly SetupStep[];
  services: readonly Service[];
  verify: VerifyPolicy;
  context: { instructions: 'auto' | 'none'; softenAt: number; compactAt: number };
  tools: { edit: 'auto' | 'apply_patch' | 'replace_text'; enable: readonly string[]; disable: readonly string[] };
  mcp: Readonly<Record<string, McpServer>>;
  plugins: readonly string[];
}

/** A policy with where it came from. `sha256` is of the file's bytes (of the canonical default for the built-in one). */
export interface LoadedPolicy {
  policy: Policy;
  /** Path as the user wrote it, `REF:path` for a trust ref, or `built-in`. */
  source: string;
  /** Absolute path of the file, null for the built-in one and for a trust ref. */
  path: string | null;
  sha256: string;
  floorSha256: string | null;
  /** Dotted key → where its value comes from: `belay.yml:3:10`, `option --turns`, `environment BELAY_TURNS`, `floor`, `default`. */
  origins: ReadonlyMap<string, string>;
}
