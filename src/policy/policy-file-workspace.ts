import { globs, list, oneOf, section, text } from './policy-file-fields.ts';

export const GLOB_RULES =
  'Globs are relative to the repository root and read as in .gitignore: one without `/` matches at any depth; what matches a folder takes in all below it.';

export const workspaceSection = section({
  write: globs()
    .optional()
    .describe(
      `What the final change may touch. Absent: everything. Empty: nothing may change. Filled: these alone. ${GLOB_RULES}`,
    ),
  protect: globs()
    .optional()
    .describe(
      'Never writable by the agent, in addition to the built-in list (the policy in use, .git, CI and agent files). Absent or empty: the built-in list. Filled: these too; `!glob` takes one out.',
    ),
  hide: globs()
    .optional()
    .describe(
      'Not readable by the agent; checks and setup see them. Absent: .env and .env.*. Empty: nothing is hidden. Filled: these alone.',
    ),
  tests: globs()
    .optional()
    .describe(
      'What judges the work: changes to it are reported apart and undone for the second pass of the clean room. Absent: `default`, the built-in list of test files and configs. Empty: nothing. Filled: these alone; `default` stands for the built-in list.',
    ),
  review: list(
    section({
      paths: globs().describe('Globs. Empty: never touched. Filled: touching any of them asks for a review.'),
      label: text('a label', 200).describe('What the summary calls this area.'),
    }),
    '{paths, label}',
  )
    .optional()
    .describe('Areas that a person should look at when the change touches them. Absent or empty: none. Filled: these.'),
  dependencies: oneOf(['deny', 'report', 'allow'])
    .optional()
    .describe("Changes to lock files and to manifests' dependencies. Absent: report."),
  on_failure: oneOf(['restore', 'keep'])
    .optional()
    .describe('What becomes of the change when the run does not end well. Absent: restore.'),
});
