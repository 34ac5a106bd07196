/**
 * Words of the format. A whole string that is one of them is never redacted: a secret that happens to be `completed` must not
 * break every status, and the word gives nothing away. Written out, because a run needs the words and not the schemas that have them
 * (see docs/performance.md); test/events/schemas.test.ts holds the two together.
 */
export const VOCABULARY: ReadonlySet<string> = new Set(
  `run.started thread.started turn.started turn.completed turn.failed item.started item.updated item.completed
  verification.started verification.completed model.retried context.compacted limit.warned approval.requested approval.resolved
  network.allowed workspace.restored error run.completed
  agent_message reasoning command_execution file_change mcp_tool_call todo_list tool_call check service denial
  in_progress completed failed declined cancelled timed_out
  setup baseline agent verify clean_room
  verified unchecked not_reproduced internal_error usage_error unverified limit_reached policy_violation approval_required gave_up
  invalid_output model_failed sandbox_unavailable setup_failed busy interrupted
  passed skipped fixed passing regressed still_failing pre_existing flaky
  turns attempts wall_time_ms tokens cost_usd tool_calls
  add update delete kept none elide summarize approved denied base belay.result/v1`.split(/\s+/),
);
