/** Code of a system error such as `ENOENT`; null for anything else, which is a bug and wants to be rethrown. */
export function errnoCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error
    ? error.code
    : null;
}
