import type { ProjectFiles } from './project-files.ts';

/** How a Python project runs its tests. */
export interface PythonFacts {
  runner: 'pytest' | 'django' | 'unittest' | null;
  /** Where `unittest` looks: a folder of tests that is no package is passed over unless it is named. */
  folder: 'tests' | 'test' | null;
  manager: 'uv' | 'poetry' | 'pip';
  hasRequirements: boolean;
  /** Whether it is something that pip could install. */
  isPackage: boolean;
}

const MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'tox.ini', 'pytest.ini', 'manage.py'];
const MENTIONS = ['pyproject.toml', 'setup.cfg', 'requirements.txt', 'requirements-dev.txt', 'tox.ini'];
const CONFIGS = ['pytest.ini', '.pytest.ini', 'conftest.py'];
/** Test files that are looked at. */
const MAX_TESTS = 20;

/** null where the root shows no Python project. */
export async function readPythonFacts(project: ProjectFiles): Promise<PythonFacts | null> {
  const { names, read } = project;
  const hasManifest = MANIFESTS.some((name) => names.has(name));
  // Without a manifest it is one where modules lie in the root and tests are to be seen: other projects may have a script or two.
  if (!hasManifest && ![...names].some((name) => name.endsWith('.py'))) return null;
  const folder = (['tests', 'test'] as const).find((name) => names.has(name)) ?? null;
  const inFolder = folder === null ? new Set<string>() : await project.list(folder);
  if (!hasManifest && ![...names, ...inFolder].some(isTest)) return null;
  return {
    runner: await readRunner(project, folder, inFolder),
    folder: folder === null || inFolder.has('__init__.py') ? null : folder,
    manager: names.has('uv.lock') ? 'uv' : names.has('poetry.lock') ? 'poetry' : 'pip',
    hasRequirements: (await read('requirements.txt')) !== null,
    isPackage: names.has('pyproject.toml') || names.has('setup.py') || names.has('setup.cfg'),
  };
}

const isTest = (name: string): boolean => /^test.*\.py$|_test\.py$/.test(name);

async function readRunner(
  { names, read }: ProjectFiles,
  folder: string | null,
  inFolder: ReadonlySet<string>,
): Promise<PythonFacts['runner']> {
  const texts = await Promise.all(MENTIONS.map(read));
  if (texts.some((text) => text !== null && /\bpytest\b/.test(text))) return 'pytest';
  if (CONFIGS.some((name) => names.has(name)) || inFolder.has('conftest.py')) return 'pytest';
  if (names.has('manage.py')) return 'django';
  const files = [
    ...[...names].filter(isTest),
    ...[...inFolder].filter(isTest).map((name) => `${folder}/${name}`),
  ].sort();
  const tests = await Promise.all(files.slice(0, MAX_TESTS).map(read));
  // What unittest runs are methods: a test that is a function of its file is there for pytest.
  if (tests.some((text) => text !== null && /^(?:import|from) pytest\b|^(?:async )?def test/m.test(text)))
    return 'pytest';
  return folder !== null || files.length > 0 ? 'unittest' : null;
}
