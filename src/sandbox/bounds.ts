/** What a command may use at most; from the policy's `memory`, `processes` and `file_size`. */
export interface Bounds {
  memoryBytes: number;
  processes: number;
  fileSizeBytes: number;
}

/** In the unit of bash's `ulimit -f`. */
export function fileKibOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

export function memoryDetail(bounds: Bounds): string {
  return `It used more memory than sandbox.memory allows (${bounds.memoryBytes} bytes).`;
}

/**
 * Shell words that close every descriptor but the standard three: whoever started belay may have left one open (a key on a pipe, a
 * runner's socket), and Node passes those on.
 */
export const CLOSE_DESCRIPTORS = `for fd in /dev/fd/*; do fd=\${fd##*/}; case $fd in 0|1|2) ;; *) eval "exec $fd>&-" ;; esac; done`;
