import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { codeOf } from '../errors.ts';

/** Patches are bounded by the policy; whatever a log names may be anything. */
const MAX_PATCH_BYTES = 16_777_216;

/** The bytes of a patch that a log names; null where there is none. Only regular files: a pipe would wait, and a device has no end. */
export async function loadPatch(path: string): Promise<Buffer | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const facts = await file.stat();
      return facts.isFile() && facts.size <= MAX_PATCH_BYTES ? await file.readFile() : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}
