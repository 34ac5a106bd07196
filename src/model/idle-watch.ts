/** Cuts one request when the caller gives up or nothing comes in for too long. */
export interface IdleWatch {
  /** Aborts in both cases. */
  readonly signal: AbortSignal;
  readonly isStalled: boolean;
  /** Something came in. */
  touch(): void;
  /** The promise, or a rejection as soon as the watch cuts: a provider need not listen to the signal. */
  guard<T>(promise: PromiseLike<T>): Promise<T>;
  /** No timer and no listener is left behind. Aborts what may still be open. */
  stop(): void;
}

export function createIdleWatch(idleMs: number, outer: AbortSignal): IdleWatch {
  const controller = new AbortController();
  let isStalled = false;
  let rejectCut: (reason: unknown) => void = () => {};
  const cut = new Promise<never>((_, reject) => {
    rejectCut = reject;
  });
  // Nobody may be waiting at the moment of the cut.
  cut.catch(() => {});

  const end = (): void => {
    controller.abort();
    rejectCut(controller.signal.reason);
  };
  const stall = (): void => {
    isStalled = true;
    end();
  };
  let timer = setTimeout(stall, idleMs);
  outer.addEventListener('abort', end, { once: true });
  if (outer.aborted) end();

  return {
    signal: controller.signal,
    get isStalled() {
      return isStalled;
    },
    touch() {
      if (controller.signal.aborted) return;
      clearTimeout(timer);
      timer = setTimeout(stall, idleMs);
    },
    guard: (promise) => Promise.race([promise, cut]),
    stop() {
      clearTimeout(timer);
      outer.removeEventListener('abort', end);
      controller.abort();
    },
  };
}
