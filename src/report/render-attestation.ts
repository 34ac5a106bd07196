import { UsageError } from '../errors.ts';
import { type Result, renderJson } from '../events/index.ts';
import type { ReportView } from './report-view.ts';

/** https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md */
const STATEMENT = 'https://in-toto.io/Statement/v1';
/** What `predicate` is; its major version changes with the meaning of a field. */
const PREDICATE = 'urn:belay:attestation:run:v1';

/**
 * An in-toto Statement (v1), unsigned: which patch and which tree this run came to, and how. Throws UsageError for a log that is broken or
 * has nothing to attest: a statement about it would be worth less than none.
 */
export function renderAttestation(view: ReportView): string {
  const { result, log } = view;
  const [fault] = log.faults;
  if (fault !== undefined || result === null)
    throw new UsageError(
      `no attestation of a broken log: ${fault === undefined ? 'it has no verdict' : `line ${fault.line}: ${fault.reason}`}`,
      { code: 'broken_log' },
    );
  const subject = subjectsOf(result);
  if (subject.length === 0)
    throw new UsageError('there is nothing to attest: the run ended before it had a tree', { code: 'no_subject' });
  const statement = { _type: STATEMENT, subject, predicateType: PREDICATE, predicate: predicateOf(view, result) };
  return renderJson(statement);
}

function subjectsOf({ changes }: Result) {
  return [
    ...(changes.patch_sha256 === null ? [] : [{ name: 'change.patch', digest: { sha256: changes.patch_sha256 } }]),
    ...(changes.tree === null ? [] : [{ name: 'tree', digest: { gitTree: changes.tree } }]),
  ];
}

function predicateOf({ start, log }: ReportView, result: Result) {
  const { changes } = result;
  return {
    belay: {
      version: start?.belay_version ?? null,
      ...(start?.belay_sources_sha256 === undefined
        ? {}
        : { sources: { digest: { sha256: start.belay_sources_sha256 } } }),
    },
    verdict: {
      outcome: result.outcome,
      verified: result.verified,
      evidence: result.evidence,
      exit_code: result.exit_code,
      reason: result.reason,
    },
    run: {
      run_id: result.run_id,
      thread_id: result.thread_id,
      started_at: result.started_at,
      duration_ms: result.duration_ms,
    },
    /** The digest of the last line of the log: by the chain, of every line. */
    log: { events: log.events, digest: { sha256: log.chainHead } },
    goal: result.goal === null ? null : { digest: { sha256: result.goal.sha256 } },
    policy:
      result.policy === null
        ? null
        : {
            source: result.policy.source,
            digest: { sha256: result.policy.sha256 },
            ...(result.policy.floor_sha256 === undefined
              ? {}
              : { floor: { digest: { sha256: result.policy.floor_sha256 } } }),
          },
    base: {
      ...(changes.base_commit === null ? {} : { digest: { gitCommit: changes.base_commit } }),
      dirty: changes.base_dirty,
    },
    model: result.model,
    sandbox: result.sandbox,
    checks: result.checks.map((check) => ({
      name: check.name,
      command: check.command,
      required: check.required,
      baseline: check.baseline,
      final: check.final,
      classification: check.classification,
      exit_code: check.exit_code,
      output: check.output_sha256 === null ? null : { digest: { sha256: check.output_sha256 } },
    })),
    denials: result.denials.length,
    cost_usd: result.cost_usd,
    usage: result.usage,
  };
}
