/** Something that was set up ahead of its use. */
export interface Ahead {
  hasEnded(): boolean;
  /** Resolves when nothing of it is left. */
  end(): Promise<void>;
}

/** Keeps one thing set up for the next command, where the last two were alike. */
export interface Standby<T extends Ahead> {
  /** What was set up for a command of this key, now the caller's. Whatever else stands by is ended. */
  take(key: string): Promise<T | null>;
  /** After a command of this key: the next may be like it. `make` gives null where that would need another one by now. */
  prepare(key: string, make: () => Promise<T | null>): void;
  close(): Promise<void>;
}

interface Standing<T> {
  key: string;
  made: Promise<T | null>;
}

export function createStandby<T extends Ahead>(): Standby<T> {
  const ending = new Set<Promise<void>>();
  let lastKey: string | null = null;
  let standing: Standing<T> | null = null;

  function drop(): void {
    const dropped = standing;
    standing = null;
    if (dropped === null) return;
    const gone = dropped.made.then((made) => made?.end());
    ending.add(gone);
    // A failure stays, for whoever closes.
    gone.then(
      () => ending.delete(gone),
      () => undefined,
    );
  }

  return {
    async take(key) {
      if (standing?.key !== key) {
        drop();
        return null;
      }
      const { made } = standing;
      standing = null;
      const taken = await made;
      if (taken?.hasEnded() !== true) return taken;
      await taken.end();
      return null;
    },
    prepare(key, make) {
      drop();
      const isAlike = key === lastKey;
      lastKey = key;
      // What fails here is met again by the command that needs it.
      if (isAlike) standing = { key, made: make().catch(() => null) };
    },
    async close() {
      drop();
      lastKey = null;
      await Promise.all(ending);
    },
  };
}
