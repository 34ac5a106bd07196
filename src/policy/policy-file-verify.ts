import * as path from 'node:path';
import * as z from 'zod';
import {
  count,
  duration,
  environmentRules,
  flag,
  globs,
  list,
  networkAccess,
  oneOf,
  section,
  text,
} from './policy-file-fields.ts';

const own = { pass: 'none beyond `sandbox.env`', set: 'none beyond `sandbox.env`' };

/** Relative, with `/`, and not above the folder it is relative to. */
export function isInside(value: string): boolean {
  return (
    !path.posix.isAbsolute(value) && !path.posix.normalize(value).split('/').includes('..') && !value.includes('\\')
  );
}

const insidePath = (what: string) =>
  text(what, 4096).refine(isInside, { error: `expected ${what} inside the workspace, with /` });

const expectSection = section({
  matches: text('a regular expression (RE2)', 10_000)
    .optional()
    .describe('RE2 pattern that the output must match somewhere, beside exit code 0. Absent: any output.'),
  tests: z
    .literal('not_fewer', { error: 'expected not_fewer' })
    .optional()
    .describe("The number of tests run may not fall below the baseline's. Absent: not counted."),
});

const checkSection = section({
  name: text('a name', 200).describe('Unique among the checks.'),
  run: text('a shell command').describe('Shell command; exit code 0 is green.'),
  timeout: duration(100, 7 * 86_400_000)
    .optional()
    .describe('Absent: 10m.'),
  required: flag().optional().describe('Whether the verdict depends on it. Absent: true.'),
  before: oneOf(['any', 'pass', 'fail'])
    .optional()
    .describe('What it must be on the base, before the agent. Absent: any.'),
  when: oneOf(['attempt', 'final', 'both'])
    .optional()
    .describe(
      'attempt: in the rounds of the loop, and in the last one too where it is required; final: in the last round only. Absent: both.',
    ),
  workdir: insidePath('a folder').optional().describe('Relative to the workspace. Absent: the workspace.'),
  env: environmentRules(own).optional().describe('In addition to `sandbox.env`.'),
  network: networkAccess().optional().describe("Absent: the sandbox's own."),
  expect: expectSection.optional().describe('What the output must show beside exit code 0. Absent or empty: nothing.'),
});

const holdoutEntry = z.union(
  [
    text('a path', 4096).refine(isInside, {
      error: 'expected a path below the policy file; give {from, to} for another place',
    }),
    section({
      from: text('a path', 4096).describe('File, folder or glob, relative to the policy file.'),
      to: insidePath('a path').describe('Where it is laid in the clean room, relative to the workspace.'),
    }),
  ],
  { error: 'expected a path or {from, to}' },
);

export const verifySection = section({
  checks: list(checkSection, '{name, run}', 200)
    .superRefine((checks, context) => {
      checks.forEach((check, index) => {
        if (checks.findIndex((other) => other.name === check.name) < index)
          context.addIssue({
            code: 'custom',
            path: [index, 'name'],
            message: 'an earlier check has that name; expected another',
          });
      });
    })
    .optional()
    .describe(
      'What belay itself runs to judge the work. Absent: none, and the run ends `unchecked` with exit 3. Empty: none on purpose, exit 0. Filled: these.',
    ),
  require: oneOf(['any', 'kept', 'fixed']).optional().describe('The evidence that `verified` needs. Absent: any.'),
  clean_room: section({
    carry: z
      .union([z.literal('auto'), globs()], { error: 'expected auto or a list of globs' })
      .optional()
      .describe(
        'Ignored paths taken into the clean room as they were before the agent. Absent: auto, all that setup left. Empty: none. Filled: these.',
      ),
    freeze: globs()
      .optional()
      .describe(
        'Ignored paths that the agent may only read, so that they need no copy. Absent or empty: none. Filled: these.',
      ),
    pristine_tests: flag().optional().describe('A second pass with the base versions of changed tests. Absent: true.'),
  })
    .optional()
    .describe('The fresh tree of the final round.'),
  holdout: list(holdoutEntry, 'paths or {from, to}')
    .optional()
    .describe(
      'Hidden files laid over the clean room only. A plain path means from and to alike. Absent or empty: none. Filled: these, and the round with them is the last one.',
    ),
  flaky_retries: count(0, 10).optional().describe('How often a red check is run again unchanged. Absent: 1.'),
});
