import { createHash } from 'node:crypto';
import { keepEnds } from './keep-ends.ts';
import type { ReportView } from './report-view.ts';

const MAX_CHARACTERS = 400_000;

/** The view with its change as a diff, if the bytes are those of the result's patch: any others are not what was checked. */
export function attachPatch(view: ReportView, patch: Uint8Array): ReportView {
  const digest = createHash('sha256').update(patch).digest('hex');
  if (digest !== view.result?.changes.patch_sha256) return view;
  const bounded = keepEnds(Buffer.from(patch).toString('utf8'), MAX_CHARACTERS);
  return { ...view, patch: { label: '', kind: 'diff', ...bounded } };
}
