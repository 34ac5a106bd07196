import type { ChangedFile, DependencyChange, FileChange, Result } from '../events/index.ts';
import { createMatcher, type Policy } from '../policy/index.ts';

export interface ScopeViolation {
  /** The policy key that is broken: `workspace.write`, `workspace.protect`, `workspace.dependencies`, `limits.changed_files|changed_lines`. */
  rule: string;
  /** null where the change as a whole breaks it. */
  path: string | null;
  /** A sentence for a person and for the model. */
  reason: string;
}

export type ScopePolicy = Pick<Policy, 'workspace' | 'limits'>;

/** Each file that breaks a rule is named, up to this many. */
const MAX_VIOLATIONS = 100;

/**
 * Judges the difference between base and final tree: a trespass that was undone is none. `alsoProtected`: globs beside the policy's own,
 * and stronger than its `!` entries (the policy in use).
 */
export const judgeScope = (
  files: readonly ChangedFile[],
  policy: ScopePolicy,
  alsoProtected: readonly string[] = [],
): readonly ScopeViolation[] => {
  const { workspace, limits } = policy;
  const writable = createMatcher(workspace.write);
  const protectedBy = createMatcher([...workspace.protect, ...alsoProtected]);
  const violations: ScopeViolation[] = [];
  for (const { path, kind } of files) {
    const glob = protectedBy(path);
    if (glob !== null) {
      violations.push({ rule: 'workspace.protect', path, reason: `${path} ${PAST[kind]}, but is protected (${glob})` });
    } else if (writable(path) === null) {
      violations.push({
        rule: 'workspace.write',
        path,
        reason: `${path} ${PAST[kind]}, but is outside of workspace.write`,
      });
    }
  }
  const lines = files.reduce((sum, file) => sum + file.added + file.removed, 0);
  return [
    ...violations.slice(0, MAX_VIOLATIONS),
    ...overLimit('changed_files', files.length, limits.changedFiles),
    ...overLimit('changed_lines', lines, limits.changedLines),
  ];
};

/**
 * Protected paths among those that no snapshot holds (`Workspace.unrecorded`): no patch would show them, and the delivered workspace would
 * have them. Of an ignored folder only what a glob names by its path from the root is found.
 */
export const judgeUnrecorded = (
  paths: readonly string[],
  { workspace: { protect } }: Pick<Policy, 'workspace'>,
  isThere: (path: string) => boolean,
): readonly ScopeViolation[] => {
  const protectedBy = createMatcher(protect);
  const roots = protect.map((glob) => /^\/?((?:[^*?[\]{}\\!/]+\/)+)/.exec(glob)?.[1]?.slice(0, -1)).filter(isText);
  const violations = paths.flatMap((path) => {
    const inside = roots.find((root) => root === path || (root.startsWith(`${path}/`) && isThere(root)));
    const glob = protectedBy(path) ?? (inside === undefined ? null : protectedBy(`${inside}/x`));
    const reason = `${path} was added, outside of what git records, but is protected (${glob})`;
    return glob === null ? [] : [{ rule: 'workspace.protect', path, reason }];
  });
  return violations.slice(0, MAX_VIOLATIONS);
};

const isText = (text: string | undefined): text is string => text !== undefined;

const PAST = { add: 'was added', update: 'was changed', delete: 'was deleted' } as const satisfies Record<
  FileChange['kind'],
  string
>;

const overLimit = (name: string, used: number, max: number): ScopeViolation[] =>
  used <= max
    ? []
    : [
        {
          rule: `limits.${name}`,
          path: null,
          reason: `the change has ${used} ${name.replace('_', ' ')}, more than ${max}`,
        },
      ];

/** `workspace.dependencies: deny`. */
export const judgeDependencies = (
  changes: readonly DependencyChange[],
  policy: Pick<Policy, 'workspace'>,
): readonly ScopeViolation[] =>
  policy.workspace.dependencies !== 'deny'
    ? []
    : changes.slice(0, MAX_VIOLATIONS).map(({ path, name, from, to }) => ({
        rule: 'workspace.dependencies',
        path,
        reason: `${path} changes the dependency ${name} (${from ?? 'none'} → ${to ?? 'none'}), but workspace.dependencies is deny`,
      }));

/** Touched files that judge the work (`workspace.tests`). */
export const touchedTests = (files: readonly FileChange[], policy: Pick<Policy, 'workspace'>): string[] => {
  const isTest = createMatcher(policy.workspace.tests);
  return files.map((file) => file.path).filter((path) => isTest(path) !== null);
};

/** Touched areas that a person is to look at (`workspace.review`), in the policy's order; areas with one label are one. */
export const reviewAreas = (files: readonly FileChange[], policy: Pick<Policy, 'workspace'>): Result['review'] => {
  const areas = new Map<string, string[]>();
  for (const { paths, label } of policy.workspace.review) {
    const covers = createMatcher(paths);
    const touched = files.map((file) => file.path).filter((path) => covers(path) !== null);
    if (touched.length > 0) areas.set(label, [...new Set([...(areas.get(label) ?? []), ...touched])]);
  }
  return [...areas].map(([label, paths]) => ({ label, paths }));
};
