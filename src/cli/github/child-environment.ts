const OWN = /^(INPUT_|GITHUB_(OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)$)/;

/** The environment of belay: without the inputs, and without the files by which a step steers its job. */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN.test(name)));
}
