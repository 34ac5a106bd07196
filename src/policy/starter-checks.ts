import { nodeChecks, nodeInstall } from './node-facts.ts';
import { phpTest } from './php-facts.ts';
import type { PythonFacts } from './python-facts.ts';
import type { PartFacts, ProjectFacts } from './repository-facts.ts';
import { rubyTest } from './ruby-facts.ts';

export interface ProposedCheck {
  name: string;
  run: string;
  workdir?: string;
}

const isTest = ({ name }: ProposedCheck): boolean => name.startsWith('tests');

/** Whether the checks of the project itself run tests. */
export function proposesTests(facts: ProjectFacts): boolean {
  return proposeChecks(facts, []).some(isTest);
}

/** The makefile, and what is like it, only where nothing else names a test: it mostly calls the same one. */
export function proposeChecks(facts: ProjectFacts, parts: readonly PartFacts[]): readonly ProposedCheck[] {
  const found = [
    ...(facts.node === null ? [] : nodeChecks(facts.node)),
    ...pythonChecks(facts),
    ...otherChecks(facts),
    ...parts.flatMap(partCheck),
  ];
  const tests = found.filter(isTest);
  if (tests.length === 0 && facts.makeTarget !== null)
    return [{ name: 'tests', run: `make ${facts.makeTarget}` }, ...found];
  const just = facts.others.find(({ name }) => name === 'just');
  if (tests.length === 0 && just !== undefined) return [{ name: 'tests', run: just.test }, ...found];
  // one language: the plain name will do
  return tests.length === 1 ? found.map((check) => (check === tests[0] ? { ...check, name: 'tests' } : check)) : found;
}

function partCheck({ folder, facts }: PartFacts): readonly ProposedCheck[] {
  return proposeChecks(facts, [])
    .filter(isTest)
    .slice(0, 1)
    .map(({ run }) => ({ name: `tests-${folder}`, run, workdir: folder }));
}

function pythonChecks({ python }: ProjectFacts): readonly ProposedCheck[] {
  if (python === null || python.runner === null) return [];
  const start = { uv: 'uv run --offline ', poetry: 'poetry run ', pip: '' }[python.manager];
  const run = {
    pytest: 'python3 -m pytest',
    django: 'python3 manage.py test',
    unittest: `python3 -m unittest discover${python.folder === null ? '' : ` -s ${python.folder}`}`,
  };
  return [{ name: 'tests-python', run: `${start}${run[python.runner]}` }];
}

function otherChecks({ go, rust, ruby, php, java, others }: ProjectFacts): readonly ProposedCheck[] {
  const checks: ProposedCheck[] = go === null ? [] : [...goChecks(go)];
  if (rust !== null)
    checks.push({
      name: 'tests-rust',
      run: `cargo test --offline${rust.isWorkspace ? ' --workspace' : ''}${rust.hasLock ? ' --locked' : ''}`,
    });
  const [ofRuby, ofPhp] = [ruby === null ? null : rubyTest(ruby), php === null ? null : phpTest(php)];
  if (ofRuby !== null) checks.push({ name: 'tests-ruby', run: ofRuby });
  if (ofPhp !== null) checks.push({ name: 'tests-php', run: ofPhp });
  if (java !== null)
    checks.push({
      name: 'tests-java',
      run: `${javaCommand(java)}${java.tool === 'maven' ? ' --batch-mode' : ''} --offline test`,
    });
  for (const { name, test } of others) if (name !== 'just') checks.push({ name: `tests-${name}`, run: test });
  return checks;
}

function javaCommand({ tool, hasWrapper }: NonNullable<ProjectFacts['java']>): string {
  if (tool === 'maven') return hasWrapper ? './mvnw' : 'mvn';
  return hasWrapper ? './gradlew' : 'gradle';
}

/** `go test` passes where there are no tests: what is left to check is that it builds. */
function goChecks({ hasTests, isWorkspace }: NonNullable<ProjectFacts['go']>): readonly ProposedCheck[] {
  // In the root of a workspace `./...` names no module.
  const go = (command: string) =>
    isWorkspace ? `go list -f '{{.Dir}}/...' -m | xargs go ${command}` : `go ${command} ./...`;
  const first = hasTests ? { name: 'tests-go', run: go('test') } : { name: 'build', run: go('build') };
  return [first, { name: 'vet', run: go('vet') }];
}

function pythonInstalls({ manager, hasRequirements, isPackage }: PythonFacts): readonly string[] {
  if (manager !== 'pip') return [{ uv: 'uv sync --frozen', poetry: 'poetry install' }[manager]];
  if (hasRequirements) return ['python3 -m pip install -r requirements.txt'];
  return isPackage ? ['python3 -m pip install .'] : [];
}

export function proposeInstalls(facts: ProjectFacts, parts: readonly PartFacts[]): readonly string[] {
  const { node, python, go, rust, ruby, php, java, others } = facts;
  const installs: string[] = [];
  if (node !== null) installs.push(nodeInstall(node));
  if (python !== null) installs.push(...pythonInstalls(python));
  if (go !== null) installs.push('go mod download');
  if (rust !== null) installs.push(rust.hasLock ? 'cargo fetch --locked' : 'cargo fetch');
  if (ruby?.hasGemfile === true) installs.push('bundle install');
  if (php !== null) installs.push('composer install');
  if (java !== null)
    installs.push(`${javaCommand(java)} ${java.tool === 'maven' ? 'dependency:go-offline' : 'testClasses'}`);
  for (const { install } of others) if (install !== null) installs.push(install);
  const below = parts.flatMap(({ folder, facts: part }) =>
    proposeInstalls(part, []).map((run) => `cd ${folder} && ${run}`),
  );
  return [...installs, ...below];
}
