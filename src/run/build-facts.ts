declare const BELAY_SOURCES: string | undefined;

/** Which belay this is, beside its version: the digest of the sources that it was built from. Nothing where they run without a build. */
export const buildFacts = (): { belay_sources_sha256?: string } =>
  typeof BELAY_SOURCES === 'undefined' ? {} : { belay_sources_sha256: BELAY_SOURCES };
