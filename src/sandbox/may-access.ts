import { accessSync } from 'node:fs';
import { codeOf } from '../errors.ts';

/** `mode`: of `fs.constants`, as `access(2)` takes it. */
export function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    if (codeOf(error) !== null) return false;
    throw error;
  }
}
