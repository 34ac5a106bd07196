/** What a command may use at most; from the policy's `memory`, `processes`, `file_size`, `disk` and `output`. */
export interface Bounds {
  memoryBytes: number;
  processes: number;
  fileSizeBytes: number;
  diskBytes: number;
  outputBytes: number;
}

/** In the unit of bash's `ulimit -f`. */
export function fileKibOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

export function memoryDetail({ memoryBytes }: Bounds): string {
  return `It used more memory than sandbox.memory allows (${memoryBytes} bytes).`;
}

export function processesDetail({ processes }: Bounds): string {
  return `It started more processes and threads than sandbox.processes allows (${processes}).`;
}

export function diskDetail({ diskBytes }: Bounds): string {
  return `It wrote more to the disk than sandbox.disk allows (${diskBytes} bytes), or than the disk has room for.`;
}

export function outputDetail({ outputBytes }: Bounds): string {
  return `It printed more than sandbox.output allows (${outputBytes} bytes).`;
}

/** 128 and the number of SIGXFSZ. */
const FILE_SIZE_EXIT = 153;

/** What an exit code tells of a bound that the kernel keeps; null when it tells nothing. */
export function exitDetail(exitCode: number | null, { fileSizeBytes }: Bounds): string | null {
  return exitCode === FILE_SIZE_EXIT
    ? `Exit code ${FILE_SIZE_EXIT} is that of a file larger than sandbox.file_size allows (${fileSizeBytes} bytes).`
    : null;
}

/** In the unit of bash's `ulimit -d`: twice what is watched, and room for what programs only reserve. */
export function dataKibOf({ memoryBytes }: Bounds): number {
  return Math.ceil(memoryBytes / 512) + 1024 * 1024;
}

/**
 * Shell words that close every descriptor but the standard three: whoever started belay may have left one open (a key on a pipe, a
 * runner's socket), and Node passes those on.
 */
export const CLOSE_DESCRIPTORS = `for BELAY_FD in /dev/fd/*; do BELAY_FD=\${BELAY_FD##*/}; case $BELAY_FD in 0|1|2) ;; *) eval "exec $BELAY_FD>&-" ;; esac; done`;
