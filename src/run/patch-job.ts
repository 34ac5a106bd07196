/** A patch that stands for the agent's work. */
export interface PatchJob {
  /** Puts the patch into the workspace. Throws UsageError when it does not apply. */
  apply(): Promise<void>;
  /** Why the patch changes more than a snapshot with these paths shows; null where it does not. */
  faultOf(paths: readonly string[]): string | null;
  /** Tree that the patched workspace has to be; null: any. */
  readonly expectedTree: string | null;
}
