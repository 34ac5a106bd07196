/** policy/: policy file → validated `Policy`; pure `decide(action, policy)`; limits. */
export type * from './policy.ts';
