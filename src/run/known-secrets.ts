import { UsageError } from '../errors.ts';
import type { ChangedFile, Redactor } from '../events/index.ts';
import type { ScopeViolation, TreeId, Workspace } from '../workspace/index.ts';

/** Larger files are not looked into. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The bytes with known secrets replaced; the same bytes where there are none. */
export function redactBytes(redactor: Redactor, bytes: Buffer): Buffer {
  const stream = redactor.redactStream();
  const redacted = Buffer.concat([stream.push(bytes), stream.end()]);
  return redacted.equals(bytes) ? bytes : redacted;
}

export interface SecretQuestion {
  redactor: Redactor;
  workspace: Pick<Workspace, 'read'>;
  change: { patch: Buffer; files: readonly ChangedFile[] };
  from: TreeId;
  to: TreeId;
}

/**
 * Files that hold a known secret which they did not hold before: with the change it would leave. What the base already has, whoever reads
 * the repository knows.
 */
export async function judgeSecrets(question: SecretQuestion): Promise<ScopeViolation[]> {
  const { redactor, change } = question;
  const isInPatch = redactBytes(redactor, change.patch) !== change.patch;
  const violations: ScopeViolation[] = [];
  for (const file of change.files) {
    if (file.kind === 'delete') continue;
    const named = redactor.redact(file.path);
    // A patch holds binary contents packed, where nothing is found.
    const isIn = (isInPatch || file.binary) && (await gained(question, file.path));
    if (isIn || named !== file.path)
      violations.push({
        rule: 'secrets',
        path: named,
        reason: `${named} holds a known secret, which would leave with the change`,
      });
  }
  return violations;
}

async function gained({ redactor, workspace, from, to }: SecretQuestion, path: string): Promise<boolean> {
  const holds = async (tree: TreeId): Promise<boolean> => {
    const content = await contentOf(workspace, tree, path);
    return content !== null && redactBytes(redactor, content) !== content;
  };
  return (await holds(to)) && !(await holds(from));
}

async function contentOf(workspace: Pick<Workspace, 'read'>, tree: TreeId, path: string): Promise<Buffer | null> {
  try {
    return await workspace.read(tree, path, { maxBytes: MOST_BYTES });
  } catch (error) {
    if (error instanceof UsageError && error.code === 'too_large') return null;
    throw error;
  }
}
