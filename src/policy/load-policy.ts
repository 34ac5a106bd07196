import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import * as path from 'node:path';
import { codeOf, hasCode, UsageError } from '../errors.ts';
import { normalisePolicy } from './normalise-policy.ts';
import type { LoadedPolicy, Policy } from './policy.ts';
import { policyOrigins } from './policy-origins.ts';
import type { PolicyText, TextFault } from './policy-text.ts';

const MAX_POLICY_BYTES = 1024 * 1024;
const MAX_FAULTS = 20;

/** A file on disk (`source`: as the user wrote it, default the path), a text from elsewhere, or neither: the built-in policy. */
export type PolicySource =
  | { kind: 'file'; path: string; source?: string }
  | { kind: 'text'; bytes: Uint8Array; source: string }
  | { kind: 'built-in' };

export const BUILT_IN_POLICY_TEXT = 'version: 1\n';

/**
 * Reads, validates and completes a policy. With a `floor` (an organisation's policy), the answer is the stricter of both.
 * Throws UsageError, and nothing else, when there is something wrong: every fault as `FILE:LINE:COLUMN: what; what is expected`,
 * the first of them as `position`.
 */
export async function loadPolicy(from: PolicySource, options: { floor?: PolicySource } = {}): Promise<LoadedPolicy> {
  const loaded = await loadOne(from);
  if (options.floor === undefined) return loaded;
  const { tightenByFloor } = await import('./floor.ts');
  return tightenByFloor(loaded, await loadOne(options.floor));
}

async function loadOne(from: PolicySource): Promise<LoadedPolicy> {
  const bytes = await readSource(from);
  const source = from.kind === 'built-in' ? 'built-in' : (from.source ?? (from.kind === 'file' ? from.path : ''));
  const { policy, text } = await parsePolicy(decodeUtf8(bytes, source), source);
  return {
    policy,
    source,
    path: from.kind === 'file' ? path.resolve(from.path) : null,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    floorSha256: null,
    origins: policyOrigins(text, source),
  };
}

async function readSource(from: PolicySource): Promise<Uint8Array> {
  if (from.kind === 'built-in') return Buffer.from(BUILT_IN_POLICY_TEXT);
  const bytes = from.kind === 'text' ? from.bytes : await readPolicyFile(from.path);
  if (bytes.byteLength > MAX_POLICY_BYTES)
    throw new UsageError(`${from.source ?? (from.kind === 'file' ? from.path : '')}: the policy is larger than 1 MiB`, {
      code: 'policy',
    });
  return bytes;
}

/** Reads no more than one byte over the limit, so that a device or a huge file cannot fill the memory. */
async function readPolicyFile(file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file, 'r');
    try {
      const buffer = Buffer.alloc(MAX_POLICY_BYTES + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (bytesRead === 0 || length === buffer.length) return buffer.subarray(0, length);
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    const why = hasCode(error, 'ENOENT', 'ENOTDIR')
      ? 'there is no such policy file'
      : `the policy cannot be read (${code})`;
    throw new UsageError(`${file}: ${why}; name another one with --policy`, { code: 'policy', cause: error });
  }
}

function decodeUtf8(bytes: Uint8Array, source: string): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const at = Buffer.from(text).equals(bytes) ? -1 : text.indexOf('\uFFFD');
  if (at < 0) return text;
  const before = text.slice(0, at).split('\n');
  const fault = { offset: at, message: 'a byte here is not UTF-8; expected UTF-8 text' };
  throw policyError([fault], source, () => ({ line: before.length, column: (before.at(-1) ?? '').length + 1 }));
}

async function parsePolicy(content: string, source: string): Promise<{ policy: Policy; text: PolicyText }> {
  const [{ parsePolicyText }, { policyFile }, { policyFaults }] = await Promise.all([
    import('./policy-text.ts'),
    import('./policy-file.ts'),
    import('./policy-faults.ts'),
  ]);
  const text = parsePolicyText(content);
  if (text.faults.length > 0) throw policyError(text.faults, source, text.position);
  const parsed = policyFile.safeParse(text.value);
  if (!parsed.success) throw policyError(policyFaults(parsed.error.issues, text), source, text.position);
  const patterns = await import('./check-patterns.ts').then(({ patternFaults }) => patternFaults(parsed.data, text));
  if (patterns.length > 0) throw policyError(patterns, source, text.position);
  return { policy: normalisePolicy(parsed.data), text };
}

function policyError(faults: readonly TextFault[], source: string, position: PolicyText['position']): UsageError {
  const shown = faults.slice(0, MAX_FAULTS).map((fault) => {
    const { line, column } = position(fault.offset);
    return `${source}:${line}:${column}: ${fault.message}`;
  });
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  return new UsageError(shown.join('\n'), {
    code: 'policy',
    position: { file: source, ...position(faults[0]?.offset ?? 0) },
  });
}
