/** A patch that stands for the agent's work. */
export interface PatchJob {
  /** Puts the patch into the workspace. Throws UsageError when it does not apply. */
  apply(): Promise<void>;
  /** Tree that the patched workspace has to be; null: any. */
  readonly expectedTree: string | null;
}
