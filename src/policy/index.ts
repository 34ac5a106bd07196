/** policy/: policy file → validated `Policy`; pure `decide(action, policy)`; limits. */
export { applyOptions, type OptionValue, type PolicyOptions, parseModelName } from './apply-options.ts';
export { BUILT_IN_PROTECT, BUILT_IN_TESTS } from './built-in-lists.ts';
export type { Action } from './decide.ts';
export type { CommandDecision, CommandExplanation, DecisionResult } from './decide-command.ts';
export { explainHost, type HostExplanation, renderHostExplanation } from './explain-host.ts';
export { createMatcher, globFault, literalsOf } from './glob.ts';
export { createHostList, type HostList } from './host-list.ts';
export { type HostPort, parseHostPort } from './host-port.ts';
export { loadDecide, loadExplanations } from './load-decide.ts';
export { BUILT_IN_POLICY_TEXT, loadPolicy, type PolicySource } from './load-policy.ts';
export { nearestName } from './nearest-name.ts';
export { type Host, parseAddress, parseHost } from './parse-host.ts';
export type {
  Check,
  CommandRules,
  Decision,
  EnvironmentRules,
  Holdout,
  Limits,
  LoadedPolicy,
  McpServer,
  ModelPolicy,
  NetworkAccess,
  Policy,
  SandboxPolicy,
  Service,
  SetupStep,
  VerifyPolicy,
  WorkspacePolicy,
} from './policy.ts';
export { policySchema } from './policy-schema.ts';
export { proposeStarter } from './propose-starter.ts';
export { parseDuration, parseSize, renderDuration, renderSize } from './quantity.ts';
export { renderPolicy } from './render-policy.ts';
export { type UnsupportedKey, unsupportedKeys } from './unsupported.ts';
