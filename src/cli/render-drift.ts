import { oneLine } from '../events/index.ts';
import type { Drift, Step } from '../run/index.ts';

/** Both sides of the first divergence, for people. */
export function renderDrift({ recorded, now }: Drift): string {
  const place = describePlace(recorded ?? now);
  return [
    `drift at ${place}:`,
    `  recorded: ${describe(recorded, now)}`,
    `  now:      ${describe(now, recorded)}`,
  ].join('\n');
}

function describePlace(step: Step | null): string {
  switch (step?.kind) {
    case 'request':
      return `turn ${step.turn}, the request`;
    case 'command':
      return `turn ${step.turn}, the command ${JSON.stringify(oneLine(step.command, 100))}`;
    case 'check':
      return `the check ${JSON.stringify(oneLine(step.name))} (${step.phase})`;
    default:
      return 'the outcome';
  }
}

function describe(step: Step | null, other: Step | null): string {
  switch (step?.kind) {
    case undefined:
      return 'nothing';
    case 'request':
      return `turn ${step.turn}, request ${step.sha256}`;
    case 'command': {
      const twin = other?.kind === 'command' ? other : null;
      const line = firstDifference(step.output, twin?.output ?? '');
      const output = line === null ? 'the same output' : `output ${JSON.stringify(oneLine(line, 160))}`;
      const command = twin?.command === step.command ? '' : `${JSON.stringify(oneLine(step.command, 100))}, `;
      return `${command}${step.status}, exit ${step.exit_code ?? 'none'}, ${output}`;
    }
    case 'check':
      return `${oneLine(step.name)} ${step.passed === true ? 'passed' : 'failed'}, exit ${step.exit_code ?? 'none'}`;
    case 'outcome':
      return `${step.outcome}: ${oneLine(step.reason)}`;
  }
}

/** The first line of a text that the other text does not have there; null when they are the same. */
function firstDifference(text: string, other: string): string | null {
  if (text === other) return null;
  const others = other.split('\n');
  return text.split('\n').find((line, i) => line !== others[i]) ?? '(ends here)';
}
