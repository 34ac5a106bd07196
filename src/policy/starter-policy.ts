import { BUILT_IN_PROTECT } from './built-in-lists.ts';
import type { ProposedCheck } from './starter-checks.ts';

export interface Proposal {
  checks: readonly ProposedCheck[];
  installs: readonly string[];
  /** Files and folders of CI systems, relative to the repository's root. */
  ci: readonly string[];
  /** Folders of the home that the checks need. */
  readable: readonly string[];
}

/** A `belay.yml` to start from: what the repository shows as checks, the rest as its defaults, explained. */
export function renderStarter(proposal: Proposal): string {
  return [
    '# What belay may do here, and what decides that the work is done.',
    '# `belay policy check` validates this file; `belay policy show` prints every value with its source.',
    'version: 1',
    '',
    '# The model, here or with --model PROVIDER/NAME. The key comes from the environment variable that is named.',
    '# model: {provider: openai, name: NAME, api_key_env: OPENAI_API_KEY}',
    '',
    '# The run ends at the first limit that it reaches. Options can only tighten these.',
    'limits:',
    '  turns: 40',
    '  attempts: 3',
    '  wall_time: 30m',
    '  cost_usd: 5',
    '',
    ...workspaceLines(proposal),
    '# Commands run without a network, unless `sandbox.network` names hosts. These rules tell the model early; the sandbox is the boundary.',
    'commands:',
    '  deny: [git push]',
    '',
    ...sandboxLines(proposal),
    ...setupLines(proposal),
    ...verifyLines(proposal),
  ].join('\n');
}

function workspaceLines({ ci }: Proposal): readonly string[] {
  const built = (name: string) => BUILT_IN_PROTECT.some((glob) => glob === name || glob === `${name}/**`);
  const own = ci.filter((name) => !built(name)).map((name) => (/\.ya?ml$/.test(name) ? name : `${name}/**`));
  if (own.length === 0) return [];
  return [
    '# Never writable by the agent, besides git, GitHub, GitLab, CircleCI and Jenkins files and this policy.',
    'workspace:',
    `  protect: [${own.join(', ')}]`,
    '',
  ];
}

function sandboxLines({ readable }: Proposal): readonly string[] {
  if (readable.length === 0) return [];
  return [
    '# Commands see of the home only what is named here, read-only: the tools of the checks, and what they have downloaded. Each folder has to',
    '# be there on every machine that this policy is used on.',
    'sandbox:',
    `  readable: [${readable.join(', ')}]`,
    '',
  ];
}

function setupLines({ installs }: Proposal): readonly string[] {
  if (installs.length === 0) return [];
  return [
    '# Install dependencies in the job before belay starts, or here. A setup step has no network but the hosts that it',
    '# names: those of your package registry.',
    '# setup:',
    ...installs.map((run) => `#   - {run: ${scalar(run)}, network: {allow: [REGISTRY]}}`),
    '',
  ];
}

function verifyLines({ checks }: Proposal): readonly string[] {
  if (checks.length === 0)
    return [
      '# No test command was found. Without a check nothing can be verified, and a run ends as `unchecked`, exit code 3: name one.',
      '# (`checks: []` says that this is meant, and gives exit code 0.)',
      '# verify:',
      '#   checks:',
      '#     - {name: tests, run: make test, timeout: 10m}',
      '',
    ];
  return [
    '# What has to pass, in a clean room, before the work counts as verified.',
    'verify:',
    '  checks:',
    ...checks.map(({ name, run, workdir }) => {
      const where =
        workdir === undefined
          ? ''
          : `workdir: ${/^(true|false|null|\d.*)$/i.test(workdir) ? JSON.stringify(workdir) : workdir}, `;
      return `    - {name: ${name}, run: ${scalar(run)}, ${where}timeout: 10m}`;
    }),
    '',
  ];
}

/** Plain where a reader expects it, else quoted as JSON is, which YAML takes. */
function scalar(command: string): string {
  return /^[\w./][\w ./=:-]*$/.test(command) && !/: | #/.test(command) ? command : JSON.stringify(command);
}
