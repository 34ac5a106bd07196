/** What a runner of GitHub gives to a step by its environment: files to add to, and ways to act as the job. */
export const PIPELINE_FILES = [
  'GITHUB_ENV',
  'GITHUB_PATH',
  'GITHUB_OUTPUT',
  'GITHUB_STATE',
  'GITHUB_STEP_SUMMARY',
] as const;
export const PIPELINE_TOKENS = ['ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'GITHUB_TOKEN'] as const;
/** In place of what is secret. */
export const TOKEN_VALUE = 'of-the-job';
