import { allowsCommand, matchRule, parseCommandRule } from './command-rule.ts';
import { type CommandView, type ScriptViews, viewCommands } from './command-views.ts';
import type { CommandRules, Decision } from './policy.ts';
import { renderWord } from './shell-word.ts';

export interface DecisionResult {
  decision: Decision;
  /** The policy key and entry that decided, like `commands.deny: git push`. */
  rule: string;
  reason: string;
}

export interface CommandDecision extends DecisionResult {
  /** The words of the command that this is about. */
  command: string;
}

export interface CommandExplanation extends DecisionResult {
  /** Every command found, in the order they were met; the strictest decided. */
  commands: readonly CommandDecision[];
}

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

export function stricter(left: Decision, right: Decision): Decision {
  return STRICTNESS[left] >= STRICTNESS[right] ? left : right;
}

/** The first of the strictest. */
export function strictestOf<Result extends DecisionResult>(results: readonly Result[]): Result | undefined {
  return results.reduce<Result | undefined>(
    (best, next) => (best === undefined || STRICTNESS[next.decision] > STRICTNESS[best.decision] ? next : best),
    undefined,
  );
}

export function explainScript(script: string, rules: CommandRules): CommandExplanation {
  const nothingToJudge = rules.default === 'allow' && rules.deny.length + rules.ask.length === 0;
  if (nothingToJudge) return { ...byDefault(rules), commands: [] };
  const { views, faults }: ScriptViews = viewCommands(script);
  const parsed = parseRules(rules);
  const commands = views.flatMap((view) => decideView(view, rules, parsed));
  const unknown = faults.map(
    (fault): CommandDecision => ({ ...unknowable(rules, fault), command: script.slice(0, 80) }),
  );
  const { decision, rule, reason } = strictestOf([...commands, ...unknown]) ?? {
    ...byDefault({ ...rules, default: 'allow' }),
    reason: 'it runs no command',
  };
  return { decision, rule, reason, commands: [...commands, ...unknown] };
}

interface ParsedRules {
  deny: readonly ReturnType<typeof parseCommandRule>[];
  ask: readonly ReturnType<typeof parseCommandRule>[];
  allow: readonly ReturnType<typeof parseCommandRule>[];
}

function parseRules(rules: CommandRules): ParsedRules {
  return {
    deny: rules.deny.map(parseCommandRule),
    ask: rules.ask.map(parseCommandRule),
    allow: rules.allow.map(parseCommandRule),
  };
}

function decideView(view: CommandView, rules: CommandRules, parsed: ParsedRules): readonly CommandDecision[] {
  const command = view.words.map(renderWord).join(' ').slice(0, 200);
  for (const decision of ['deny', 'ask'] as const) {
    const matches = parsed[decision].map((rule) => ({ rule, match: matchRule(rule, view.words) }));
    const hit = matches.find(({ match }) => match === 'yes') ?? matches.find(({ match }) => match === 'maybe');
    if (hit === undefined) continue;
    const rule = `commands.${decision}: ${hit.rule.source}`;
    const reason =
      hit.match === 'yes'
        ? `\`${command}\` is what the rule \`${hit.rule.source}\` names`
        : `\`${command}\` cannot be known statically and could be \`${hit.rule.source}\`; write the words out`;
    return [{ decision: hit.match === 'yes' ? decision : stricter(decision, rules.default), rule, reason, command }];
  }
  if (!view.judged) return [];
  const allowed = parsed.allow.find((rule) => allowsCommand(rule, view.words));
  if (allowed === undefined) return [{ ...byDefault(rules), command }];
  return [
    {
      decision: 'allow',
      rule: `commands.allow: ${allowed.source}`,
      reason: `\`${command}\` is allowed by a rule`,
      command,
    },
  ];
}

/** What cannot be known is judged by the strictest rule there is: it could be what that one names. */
function unknowable(rules: CommandRules, fault: string): DecisionResult {
  const reason = `${fault}, so the strictest rule counts`;
  const [deny] = rules.deny;
  const [ask] = rules.ask;
  if (deny !== undefined) return { decision: 'deny', rule: `commands.deny: ${deny}`, reason };
  if (ask !== undefined) return { decision: stricter('ask', rules.default), rule: `commands.ask: ${ask}`, reason };
  return { ...byDefault(rules), reason };
}

function byDefault(rules: CommandRules): DecisionResult {
  return { decision: rules.default, rule: `commands.default: ${rules.default}`, reason: 'no rule names the command' };
}
