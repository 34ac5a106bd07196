import * as z from 'zod';
import { jsonOf } from '../events/index.ts';

const Manifest = z.object({
  scripts: z.record(z.string(), z.unknown()).optional().catch(undefined),
  workspaces: z.unknown().optional(),
  packageManager: z.string().optional().catch(undefined),
});
export type ProjectManifest = z.infer<typeof Manifest>;

/** What package.json and composer.json have in common; nothing where it cannot be read. */
export function parseManifest(text: string | null): ProjectManifest {
  return (text === null ? undefined : Manifest.safeParse(jsonOf(text)).data) ?? {};
}

export function scriptsOf(text: string | null): Readonly<Record<string, unknown>> {
  return parseManifest(text).scripts ?? {};
}
