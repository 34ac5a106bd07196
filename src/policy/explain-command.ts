import { type CommandExplanation, explainScript } from './decide-command.ts';
import type { Policy } from './policy.ts';
import { printable } from './printable.ts';

export function explainCommand(command: string, policy: Policy): CommandExplanation {
  return explainScript(command, policy.commands);
}

/** For a person: the decision first, then the rule, then each command that was found. */
export function renderExplanation(explanation: CommandExplanation, policy: Policy): string {
  const { decision, rule, reason, commands } = explanation;
  const lines = [`${decision}: ${reason}`, `  rule: ${rule}`];
  if (decision === 'ask') lines.push(`  with nobody there: ${policy.approvals} (approvals)`);
  if (commands.length > 1)
    lines.push(
      '  commands found:',
      ...commands.map((one) => `    ${one.decision.padEnd(5)} ${one.command}  (${one.rule})`),
    );
  return `${lines.map((line) => printable(line, 1000)).join('\n')}\n`;
}
