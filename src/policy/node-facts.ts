import type { ProjectFiles } from './project-files.ts';
import { type ProjectManifest, parseManifest } from './project-manifest.ts';

/** How a package of Node or Bun is installed and tested. */
export interface NodeFacts {
  scripts: readonly NodeScript[];
  manager: NodeManager;
  hasLock: boolean;
  /** Several packages below one root that has no test script of its own. */
  isWorkspace: boolean;
  /** Yarn of the second generation and later, which names the option otherwise. */
  isBerry: boolean;
}

const MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const;
type NodeManager = (typeof MANAGERS)[number];
const SCRIPTS = ['test', 'lint', 'typecheck', 'type-check'] as const;
type NodeScript = (typeof SCRIPTS)[number];

const LOCKS: readonly (readonly [string, NodeManager])[] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/** null where the folder has no package.json. */
export async function readNodeFacts({ names, read }: ProjectFiles): Promise<NodeFacts | null> {
  const text = await read('package.json');
  if (text === null) return null;
  const manifest = parseManifest(text);
  const lock = LOCKS.find(([name]) => names.has(name));
  const named = MANAGERS.find((manager) => manifest.packageManager?.startsWith(`${manager}@`));
  return {
    scripts: SCRIPTS.filter((name) => isReal(manifest, name)),
    manager: lock?.[1] ?? named ?? 'npm',
    hasLock: lock !== undefined,
    isWorkspace: manifest.workspaces !== undefined || names.has('pnpm-workspace.yaml'),
    isBerry: names.has('.yarnrc.yml'),
  };
}

/** The test script that `npm init` writes only fails. */
function isReal({ scripts = {} }: ProjectManifest, name: NodeScript): boolean {
  const script = Object.hasOwn(scripts, name) ? scripts[name] : null;
  return typeof script === 'string' && script.trim() !== '' && !script.includes('no test specified');
}

const NAMES = { test: 'tests-node', lint: 'lint', typecheck: 'types', 'type-check': 'types' };
/** The tests of every package; nothing where the manager's versions differ in how they say it. */
const OF_ALL: Readonly<Record<NodeManager, string | null>> = {
  npm: 'npm test --workspaces --if-present',
  pnpm: 'pnpm --recursive test',
  yarn: null,
  bun: "bun run --filter '*' test",
};

export function nodeChecks({ scripts, manager, isWorkspace }: NodeFacts): readonly { name: string; run: string }[] {
  const checks = scripts.map((script) => ({
    name: NAMES[script],
    run: script === 'test' && manager !== 'bun' ? `${manager} test` : `${manager} run ${script}`,
  }));
  const own = checks.filter(({ name }, index) => checks.findIndex((check) => check.name === name) === index);
  const ofAll = isWorkspace && !scripts.includes('test') ? OF_ALL[manager] : null;
  return ofAll === null ? own : [{ name: NAMES.test, run: ofAll }, ...own];
}

export function nodeInstall({ manager, hasLock, isBerry }: NodeFacts): string {
  if (!hasLock) return manager === 'npm' ? 'npm install' : `${manager} install`;
  const frozen = manager === 'yarn' && isBerry ? '--immutable' : '--frozen-lockfile';
  return manager === 'npm' ? 'npm ci' : `${manager} install ${frozen}`;
}
