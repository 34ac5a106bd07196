import { type PlannedJob, sha256 } from './planned-job.ts';

export interface SetupKeyPorts {
  treeOf(commit: string): Promise<string>;
  entries(commit: string): Promise<readonly { path: string; oid: string }[]>;
  isManifestOrLock(path: string): boolean;
  environment: NodeJS.ProcessEnv;
}

/** Commands that install what manifests and lock files say. */
const INSTALLERS =
  /^(npm (ci|install)|pnpm install --frozen-lockfile|yarn install (--immutable|--frozen-lockfile)|bun install --frozen-lockfile|uv sync|poetry install|pip3? install -r requirements\.txt|bundle install|cargo fetch|go mod download|composer install)( --[a-z-]+(=[\w.-]+)?)*$/;

const INSTALLER_CONFIG = /(^|\/)\.(npmrc|yarnrc|yarnrc\.yml|pnpmfile\.cjs)$/;

/**
 * Setup is shared where it would leave the same: the same commands with the same environment on the same tree, or, where all of them
 * only install, on trees with the same manifests and lock files.
 */
export async function setupKey(job: PlannedJob, ports: SetupKeyPorts): Promise<string | null> {
  const { setup, sandbox } = job.policy.policy;
  if (setup.length === 0) return null;
  const names = [...sandbox.env.pass, ...setup.flatMap((step) => step.env.pass)];
  const values = names.map((name) => [name, ports.environment[name] ?? null]);
  const installs = setup.every((step) => INSTALLERS.test(step.run.trim()));
  const reads = installs ? await installInputs(job.base, ports) : await ports.treeOf(job.base);
  return sha256(JSON.stringify([setup, sandbox, values, installs, reads]));
}

async function installInputs(commit: string, ports: SetupKeyPorts): Promise<readonly string[]> {
  const entries = await ports.entries(commit);
  return entries
    .filter(({ path }) => ports.isManifestOrLock(path) || INSTALLER_CONFIG.test(path))
    .map(({ path, oid }) => `${path} ${oid}`);
}
