import * as z from 'zod';
import { commandRuleFault } from './command-rule.ts';
import {
  count,
  duration,
  environmentRules,
  list,
  networkAccess,
  oneOf,
  pattern,
  section,
  text,
} from './policy-file-fields.ts';
import { limitsSection } from './policy-file-limits.ts';
import { modelSection } from './policy-file-model.ts';
import { sandboxSection } from './policy-file-sandbox.ts';
import { verifySection } from './policy-file-verify.ts';
import { workspaceSection } from './policy-file-workspace.ts';

const commandRule = text('a rule like `git push`', 1000).superRefine((value, context) => {
  const fault = commandRuleFault(value);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});
const RULE_FORM = 'A rule is the first words of a command; `*` stands for any text within a word.';

const commandsSection = section({
  default: oneOf(['allow', 'ask', 'deny']).optional().describe('For a command that no rule names. Absent: allow.'),
  deny: list(commandRule, 'rules').optional().describe(`Never run. Absent or empty: none. Filled: these. ${RULE_FORM}`),
  ask: list(commandRule, 'rules').optional().describe('Need approval. Absent or empty: none. Filled: these.'),
  allow: list(commandRule, 'rules')
    .optional()
    .describe(
      'Run although the default is ask or deny; never against a deny or ask rule. Absent or empty: none. Filled: these.',
    ),
}).describe(
  'Commands of the agent, as parsed, wrappers looked through; the strictest rule wins. Early feedback, not a boundary.',
);

const ownEnvironment = environmentRules({ pass: 'none beyond `sandbox.env`', set: 'none beyond `sandbox.env`' });

const setupStep = section({
  run: text('a shell command').describe('Shell command, always in the sandbox.'),
  network: networkAccess().optional().describe("Absent: the sandbox's own."),
  env: ownEnvironment.optional().describe('In addition to `sandbox.env`; the agent never gets it.'),
  timeout: duration(100, 7 * 86_400_000)
    .optional()
    .describe('Absent: 10m.'),
  retries: count(0, 20).optional().describe('How often it is run again when it fails. Absent: 0.'),
});

const service = section({
  name: pattern('a name of letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/).describe('Unique among the services.'),
  run: text('a shell command').describe('Shell command that keeps running.'),
  ready: text('a shell command').describe('Shell command that exits 0 once the service answers.'),
  phases: list(oneOf(['agent', 'verify']), 'agent and verify')
    .min(1, { error: 'expected agent, verify or both' })
    .optional()
    .describe('When it is up. Absent: agent and verify. Filled: these; empty is an error.'),
  timeout: duration(100, 86_400_000).optional().describe('How long it may take to be ready. Absent: 1m.'),
});

const TOOL_NAMES = [
  'shell',
  'read_file',
  'list_files',
  'search',
  'apply_patch',
  'replace_text',
  'write_file',
  'update_plan',
  'read_output',
] as const;
const toolName = z.union([oneOf(TOOL_NAMES), z.string().regex(/^[A-Za-z0-9_-]{1,64}__[A-Za-z0-9_-]{1,128}$/)], {
  error: `expected ${TOOL_NAMES.join(' | ')}, or server__tool for an MCP server's`,
});

const share = (error = 'expected a share of the context window, from 0.05 to 0.98') =>
  z.number({ error }).min(0.05, { error }).max(0.98, { error });

const contextSection = section({
  instructions: oneOf(['auto', 'none']).optional().describe('auto: AGENTS.md files of the base commit. Absent: auto.'),
  soften_at: share().optional().describe('Share of the window from which old outputs are elided. Absent: 0.60.'),
  compact_at: share().optional().describe('Share of the window from which the past is summarized. Absent: 0.85.'),
}).superRefine((context, refinement) => {
  if (context.soften_at !== undefined && context.soften_at > (context.compact_at ?? 0.85))
    refinement.addIssue({ code: 'custom', path: ['soften_at'], message: 'expected not to be above `compact_at`' });
});

const toolsSection = section({
  edit: oneOf(['auto', 'apply_patch', 'replace_text'])
    .optional()
    .describe('How files are edited. Absent: auto, by model family.'),
  enable: list(toolName, 'tool names')
    .optional()
    .describe('Tools offered beside the usual ones. Absent or empty: none. Filled: these.'),
  disable: list(toolName, 'tool names').optional().describe('Tools not offered. Absent or empty: none. Filled: these.'),
});

const mcpServer = z.union(
  [
    section({
      command: text('a program').describe('Program that speaks MCP on stdin and stdout.'),
      args: list(z.string({ error: 'expected text' }), 'texts')
        .optional()
        .describe('Absent or empty: none. Filled: these.'),
      env: ownEnvironment.optional().describe('Environment of the program.'),
    }),
    section({ url: pattern('an http:// or https:// address', /^https?:\/\//).describe('Address of the server.') }),
  ],
  { error: 'expected {command, args, env} or {url}' },
);

/** The file as written: section 4 of the contract, snake_case, nothing beside it. Absent keys stay absent. */
export const policyFile = section({
  version: z.literal(1, { error: 'expected `version: 1`' }).describe('Version of this format.'),
  model: modelSection.optional().describe('Absent: only --replay or --model can run.'),
  limits: limitsSection.optional().describe('What ends a run. Options can only tighten these.'),
  workspace: workspaceSection.optional().describe('Which files the change may touch.'),
  sandbox: sandboxSection.optional().describe('The fence around every command.'),
  commands: commandsSection.optional(),
  approvals: oneOf(['deny', 'suspend']).optional().describe('What `ask` becomes with nobody there. Absent: deny.'),
  setup: list(setupStep, '{run}', 100)
    .optional()
    .describe('Commands before the agent. Absent or empty: none. Filled: these, in order.'),
  services: list(service, '{name, run, ready}', 50)
    .superRefine((services, context) => {
      services.forEach((one, index) => {
        if (services.findIndex((other) => other.name === one.name) < index)
          context.addIssue({
            code: 'custom',
            path: [index, 'name'],
            message: 'an earlier service has that name; expected another',
          });
      });
    })
    .optional()
    .describe('Programs that belay keeps up. Absent or empty: none. Filled: these.'),
  verify: verifySection.optional().describe('How the work is judged.'),
  context: contextSection.optional().describe('What the model sees.'),
  tools: toolsSection.optional().describe('What the model may call.'),
  mcp: z
    .record(pattern('a name of letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/), mcpServer, {
      error: 'expected a map of names to servers',
    })
    .optional()
    .describe('MCP servers. Absent or empty: none. Filled: these.'),
  plugins: list(text('a module'), 'modules')
    .optional()
    .describe('Modules that export models, tools, sandboxes or sinks. Absent or empty: none. Filled: these.'),
});

export type PolicyFile = z.output<typeof policyFile>;
