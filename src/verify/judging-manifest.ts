import * as z from 'zod';
import { jsonOf } from '../events/index.ts';

/** Keys of package.json (and composer.json) that say what the checks' commands do: scripts, and settings of test runners. */
const JUDGING_KEYS = [
  'scripts',
  'jest',
  'mocha',
  'ava',
  'tap',
  'vitest',
  'nyc',
  'c8',
  'babel',
  'eslintConfig',
  'prettier',
  'config',
  'type',
  'imports',
];
/** Sections of pyproject.toml that say how tests, type checks and tasks run. */
const JUDGING_SECTIONS =
  /^\[+\s*(tool\.(pytest|tox|nox|coverage|hatch\.envs|poe|pdm\.scripts|taskipy|mypy|pyright|ruff|unittest)|tool\.poetry\.scripts)\b/;

const Manifest = z.record(z.string(), z.unknown());

/**
 * Whether a manifest's change touches what decides how checks run, not only what is installed. Manifests belong to the agent
 * (dependencies are its work), but a script named `test` is part of the judge.
 */
export function changesJudge(path: string, before: Buffer | null, after: Buffer | null): boolean {
  const name = path.split('/').at(-1);
  if (before === null) return false;
  if (name === 'package.json' || name === 'composer.json') return judgingKeys(before) !== judgingKeys(after);
  if (name === 'pyproject.toml') return judgingSections(before) !== judgingSections(after);
  return false;
}

/** Text that differs when a judging key does; a manifest that is no JSON object has none. */
function judgingKeys(bytes: Buffer | null): string {
  const manifest = parse(bytes);
  return manifest === null ? 'none' : JSON.stringify(JUDGING_KEYS.map((key) => manifest[key] ?? null));
}

function parse(bytes: Buffer | null): Record<string, unknown> | null {
  return (bytes === null ? null : Manifest.safeParse(jsonOf(bytes.toString('utf8'))).data) ?? null;
}

function judgingSections(bytes: Buffer | null): string {
  if (bytes === null) return 'none';
  let judges = false;
  const kept = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => {
      if (/^\s*\[/.test(line)) judges = JUDGING_SECTIONS.test(line.trim());
      return judges && line.trim() !== '';
    });
  return kept.join('\n');
}
